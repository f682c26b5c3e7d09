/** The nodes of a flow: held against one another, and put into an order in which each stands behind all that it waits for. */
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { ON_PARENT_FAILURE, type OnParentFailure } from '../flow.ts'
import { LIMITS } from '../limits.ts'
import { choiceOption } from './choice.ts'
import { describe } from './describe.ts'
import { type EnqueueOptions, readIdempotency } from './enqueue.ts'
import { ITEM_KEYS } from './item.ts'
import { checkKnown } from './known.ts'
import { nearest } from './nearest.ts'
import { textOption } from './text.ts'

export interface FlowNodeOptions {
  /** Names the node within its flow. 1 to 512 characters. */
  readonly ref: string
  /** Refs of the nodes that it waits for; default none. */
  readonly dependsOn?: readonly string[]
  /**
   * When one of those fails, is cancelled, or is deleted before it ended: `fail` (default) fails this job at once, without a run;
   * `cancel` cancels it at once; `continue` runs it once all have ended, and it sees which have failed; `ignore` runs it then as if
   * those had not been there; `run` runs it at the first failure, and cancels it if all have completed.
   */
  readonly onParentFailure?: OnParentFailure
}

/** The options of `flow`. */
export interface FlowOptions {
  /** Create once: a repeat answers the first flow, and gives the same nodes. 1 to 512 characters, default none. */
  readonly idempotencyKey?: string
  /** A repeat is recognised for at least this long, and until the flow has ended; at least 1 ms, default 24 h. */
  readonly idempotencyTtl?: EnqueueOptions['idempotencyTtl']
}

export interface OrderedNode {
  /** Its place in what was given. */
  readonly index: number
  readonly ref: string
  /** Places in this order. */
  readonly parents: readonly number[]
  readonly onFailure: OnParentFailure
}

const NODE = new Set(['ref', ...ITEM_KEYS, 'dependsOn', 'onParentFailure'])
const FLOW = new Set(['idempotencyKey', 'idempotencyTtl'])

/** @throws OptionTypeError, OptionRangeError */
export function validateFlowOptions(options: unknown = {}): { readonly idempotencyKey?: string; readonly idempotencyTtl?: number } {
  checkKnown('flow', options, FLOW)
  return readIdempotency(options)
}

/** @throws OptionTypeError, OptionRangeError: by name what is unknown, given twice, or waits for itself */
export function orderNodes(nodes: unknown): readonly OrderedNode[] {
  if (!Array.isArray(nodes)) throw new OptionTypeError('nodes', `flow requires an array of { ref, job, dependsOn }, got ${describe(nodes)}`)
  if (nodes.length === 0) throw new OptionRangeError('nodes', 1, 'a flow must have at least one node, got 0')
  const places = new Map<string, number>()
  for (const [index, node] of nodes.entries()) {
    checkKnown(`nodes[${index}]`, node, NODE)
    const ref = textOption(`nodes[${index}].ref`, node['ref'])
    const other = places.get(ref)
    if (other !== undefined)
      throw new OptionTypeError('ref', `nodes[${other}] and nodes[${index}] both have the ref ${describe(ref)}: refs must be unique`)
    places.set(ref, index)
  }
  const refs = [...places.keys()]
  const parents = nodes.map((node, index) => parentsOf(node, `nodes[${index}]`, places))
  const edges = parents.reduce((sum, { length }) => sum + length, 0)
  if (edges > LIMITS.edgesPerFlow) {
    const message = `the nodes of a flow wait for at most ${LIMITS.edgesPerFlow} others in all, not ${edges}: put a node between those that many wait for`
    throw new OptionRangeError('dependsOn', LIMITS.edgesPerFlow, message)
  }
  const order = inOrder(parents, refs)
  const placeOf: number[] = []
  for (const [place, index] of order.entries()) placeOf[index] = place
  return order.map((index) => ({
    index,
    ref: refs[index] as string,
    parents: (parents[index] as number[]).map((parent) => placeOf[parent] as number),
    onFailure: choiceOption(`nodes[${index}].onParentFailure`, nodes[index].onParentFailure ?? 'fail', ON_PARENT_FAILURE),
  }))
}

function parentsOf({ dependsOn = [] }: Readonly<Record<string, unknown>>, node: string, places: ReadonlyMap<string, number>): number[] {
  if (!Array.isArray(dependsOn))
    throw new OptionTypeError('dependsOn', `${node}.dependsOn must be an array of refs, got ${describe(dependsOn)}`)
  const parents = new Set<number>()
  for (const ref of dependsOn) {
    const parent = places.get(ref)
    if (parent === undefined) {
      const meant = typeof ref === 'string' ? nearest(ref, places.keys()) : undefined
      const hint = meant === undefined ? '' : `; did you mean '${meant}'?`
      throw new OptionTypeError('dependsOn', `${node} depends on ${describe(ref)}, but no node of the flow has that ref${hint}`)
    }
    if (parents.has(parent)) throw new OptionTypeError('dependsOn', `${node} depends on ${describe(ref)} twice: name it once`)
    parents.add(parent)
  }
  return [...parents]
}

/** Depth first, and by hand: a chain may be ten thousand long. */
function inOrder(parents: readonly (readonly number[])[], refs: readonly string[]): number[] {
  const order: number[] = []
  const entered = new Set<number>()
  const placed = new Set<number>()
  for (const start of parents.keys()) {
    if (placed.has(start)) continue
    const path = [{ node: start, next: 0 }]
    entered.add(start)
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const parent = (parents[top.node] as readonly number[])[top.next++]
      if (parent === undefined) {
        order.push(top.node)
        placed.add(top.node)
        path.pop()
      } else if (!placed.has(parent)) {
        if (entered.has(parent)) throw cycle([...path.map(({ node }) => node), parent], refs)
        entered.add(parent)
        path.push({ node: parent, next: 0 })
      }
    }
  }
  return order
}

const NAMED_MAX = 10

/** `path` leads from a job to one that it waits for, and ends with one that it has been at before. */
function cycle(path: readonly number[], refs: readonly string[]): OptionTypeError {
  const round = path.slice(path.indexOf(path.at(-1) as number)).map((node) => describe(refs[node]))
  const named = round.length > NAMED_MAX ? [...round.slice(0, NAMED_MAX - 1), '...', round.at(-1)] : round
  return new OptionTypeError('dependsOn', `the flow has a cycle, so that no job could ever run: ${named.join(' waits for ')}`)
}
