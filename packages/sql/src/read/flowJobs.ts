/** Reads a page of a flow. Its jobs are consecutive in the table of jobs, so no index is needed to find them. */
import { type FlowCursor, LIMITS } from '@millrace/core'
import type { DependencyRow, FlowJobRow, JobRow, ParentOutcome, Store } from '@millrace/core/kernel'
import { extrasFrom } from '../tables/job.ts'
import type { ReadFlowTally } from './flowTally.ts'

/** A job, and the range of its parents that is on the page. */
export interface PlacedJob extends Omit<FlowJobRow, 'parents'> {
  readonly behind: number
  readonly count: number
}

export type RawEdge = [parent: number, told: ParentOutcome]
export type RawRef = [seq: number, ended: string | null, extras: string | null]

/** How a store is asked. */
export interface FlowJobReads {
  /** The jobs of a range of rows without their payloads, in order. At most `limit` of them are used. */
  jobs(first: number, end: number, limit: number): Iterable<JobRow>
  /** The edges of each job to its parents on the page. */
  edges(placed: readonly PlacedJob[]): readonly (readonly RawEdge[])[]
  /** The names of jobs in their flow: of those that have ended and are gone, and of those that are there. */
  refs(seqs: readonly number[]): readonly RawRef[]
  readonly tally: ReadFlowTally
}

export function prepareFlowJobs(reads: FlowJobReads): Store['flowJobs'] {
  const placed = (first: number, from: FlowCursor, limit: number, edgesMax: number): { rows: PlacedJob[]; next: FlowCursor | null } => {
    const rows: PlacedJob[] = []
    let room = edgesMax
    for (const row of reads.jobs(Math.max(from.seq, first), first + LIMITS.jobsPerCommand, limit + 1)) {
      const { seq } = row
      const place = row.extras?.flow
      // This job was created after the flow's last job.
      if (place?.first !== first) break
      const behind = seq === from.seq ? from.place : 0
      const left = Math.max(0, place.parents - behind)
      if (rows.length > 0 && (rows.length === limit || left > room)) return { rows, next: { seq, place: 0 } }
      const count = Math.min(left, room)
      rows.push({ row, place, behind, count })
      if (count < left) return { rows, next: { seq, place: behind + count } }
      room -= count
    }
    return { rows, next: null }
  }

  return (first, from, limit, edgesMax) => {
    const { rows, next } = placed(first, from, limit, edgesMax)
    const edges = reads.edges(rows)
    const refOf = new Map(rows.map(({ row, place }) => [row.seq, place.ref]))
    const others = new Set(edges.flatMap((parents) => parents.map(([seq]) => seq)).filter((seq) => !refOf.has(seq)))
    for (const [seq, ended, extras] of others.size === 0 ? [] : reads.refs([...others]))
      refOf.set(seq, ended ?? extrasFrom(extras)?.flow?.ref ?? '')
    const parentsOf = (index: number) =>
      (edges[index] ?? []).map(([seq, told]): DependencyRow => ({ seq, ref: refOf.get(seq) ?? '', told }))
    const { counts } = reads.tally(first, rows.at(-1)?.row.seq ?? first - 1)
    return { rows: rows.map(({ row, place }, index) => ({ row, place, parents: parentsOf(index) })), next, counts }
  }
}
