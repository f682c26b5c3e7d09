/** Counts the jobs of a flow by state. They are consecutive in the table of jobs, so no index is needed to find them. */
import { STATES } from '@millrace/core'
import type { Counts } from '@millrace/core/kernel'

export interface FlowTally {
  readonly counts: Counts
  /** The number of the first job that is kept, and of all of them. */
  readonly seq: number
  readonly jobs: number
  /** When the last of those that have ended did; 0 if none has. */
  readonly finishedAt: number
}

/** `from` is a row of the flow; the one before its first if none is known to be there. */
export type ReadFlowTally = (first: number, from: number) => FlowTally

/** The columns of `RawTally`. */
export const TALLY = `min(job.seq), max(job.finished_at), ${STATES.map((_, code) => `count(*) FILTER (WHERE job.state = ${code})`).join(', ')}`

export type RawTally = [seq: number | null, finishedAt: number | null, ...counts: Counts]

export function tallyFrom([seq, finishedAt, ...counts]: RawTally, first: number): FlowTally {
  return { counts, seq: seq ?? first, jobs: counts.reduce((sum, count) => sum + count, 0), finishedAt: finishedAt ?? 0 }
}
