/** A flow as layers from left to right: each job stands to the right of all that it waits for. */
import type { FlowJob } from '../../api/answers.ts'

/** More jobs are a table: nobody follows that many lines. */
export const DRAWN_MOST = 60
export const NODE = { width: 172, height: 34 } as const
const GAP = { x: 56, y: 12 } as const
const MARGIN = 8

export interface Node {
  readonly job: FlowJob
  readonly x: number
  readonly y: number
}

export interface Line {
  readonly id: string
  readonly d: string
  /** The outcome of the job at its left end, as the one at its right end knows it. */
  readonly told: FlowJob['dependsOn'][number]['told']
}

export interface Graph {
  readonly nodes: readonly Node[]
  readonly lines: readonly Line[]
  readonly layers: number
  readonly width: number
  readonly height: number
}

/** Returns the layer of each job by its id. Jobs that are gone count for nothing. */
export function layersOf(jobs: readonly FlowJob[]): ReadonlyMap<string, number> {
  const layers = new Map<string, number>()
  // The API lists each job behind all that it waits for.
  for (const { id, dependsOn } of jobs) layers.set(id, Math.max(-1, ...dependsOn.map((parent) => layers.get(parent.id) ?? -1)) + 1)
  return layers
}

export function graphOf(jobs: readonly FlowJob[]): Graph {
  const layers = layersOf(jobs)
  const columns = [...Map.groupBy(jobs, ({ id }) => layers.get(id) ?? 0)].toSorted(([a], [b]) => a - b).map(([, column]) => column)
  const most = Math.max(0, ...columns.map((column) => column.length))
  const stepY = NODE.height + GAP.y
  const places = new Map<string, number>()
  const nodes = columns.flatMap((column, layer) => {
    const top = ((most - column.length) * stepY) / 2
    return ordered(column, places).map((job, row): Node => {
      const y = MARGIN + top + row * stepY
      places.set(job.id, y)
      return { job, x: MARGIN + layer * (NODE.width + GAP.x), y }
    })
  })
  return {
    nodes,
    lines: linesOf(nodes),
    layers: columns.length,
    width: columns.length * (NODE.width + GAP.x) - GAP.x + 2 * MARGIN,
    height: most * stepY - GAP.y + 2 * MARGIN,
  }
}

/** Jobs stand as high as those that they wait for do on average, so that fewer lines cross. */
function ordered(column: readonly FlowJob[], places: ReadonlyMap<string, number>): readonly FlowJob[] {
  const height = ({ dependsOn }: FlowJob) => {
    const known = dependsOn.flatMap(({ id }) => places.get(id) ?? [])
    return known.length === 0 ? 0 : known.reduce((total, y) => total + y, 0) / known.length
  }
  return column.toSorted((a, b) => height(a) - height(b))
}

function linesOf(nodes: readonly Node[]): readonly Line[] {
  const byId = new Map(nodes.map((node) => [node.job.id, node]))
  return nodes.flatMap((node) =>
    node.job.dependsOn.flatMap(({ id, told }) => {
      const parent = byId.get(id)
      return parent === undefined ? [] : [{ id: `${id} ${node.job.id}`, d: curve(parent, node), told }]
    }),
  )
}

function curve(from: Node, to: Node): string {
  const [x1, y1, x2, y2] = [from.x + NODE.width, from.y + NODE.height / 2, to.x, to.y + NODE.height / 2]
  const bend = Math.max(20, (x2 - x1) / 2)
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
}

/** Returns the job and all that wait for it, as far as they are known. */
export function treeOf(jobs: readonly FlowJob[], id: string): readonly FlowJob[] {
  const within = new Set([id])
  for (const job of jobs) if (job.dependsOn.some((parent) => within.has(parent.id))) within.add(job.id)
  return jobs.filter((job) => within.has(job.id))
}

const isFailed = ({ state }: FlowJob) => state === 'failed' || state === 'cancelled'
const isLive = ({ state }: FlowJob) => state !== 'completed' && !isFailed({ state } as FlowJob)

/** Returns the numbers of jobs in a sub-tree that a retry brings back, and that a cancel ends. */
export function effectsOn(tree: readonly FlowJob[]): { readonly retried: number; readonly cancelled: number } {
  return { retried: tree.filter(isFailed).length, cancelled: tree.filter(isLive).length }
}
