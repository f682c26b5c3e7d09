/** Counts the jobs of a flow by state. They are consecutive in the table of jobs, so no index is needed to find them. */
import { LIMITS, STATES } from '@millrace/core'
import type { Counts } from '@millrace/core/kernel'
import type { Connection } from '../connection.ts'

export interface FlowTally {
  readonly counts: Counts
  /** The number of the first job that is kept, and of all of them. */
  readonly seq: number
  readonly jobs: number
  /** When the last of those that have ended did; 0 if none has. */
  readonly finishedAt: number
}

export type ReadFlowTally = (first: number) => FlowTally

type Raw = [seq: number | null, finishedAt: number | null, ...counts: Counts]

export function prepareFlowTally(connection: Connection): ReadFlowTally {
  const counts = STATES.map((_, code) => `count(*) FILTER (WHERE job.state = ${code})`).join(', ')
  const sql = `SELECT min(job.seq), max(job.finished_at), ${counts} FROM job WHERE job.seq >= $1 AND job.seq < $2 AND strpos(job.extras, $3) > 0`
  return (first) => {
    const [seq, finishedAt, ...states] = connection.get<Raw>(sql, first, first + LIMITS.jobsPerCommand, flowFragment(first)) as Raw
    return { counts: states, seq: seq ?? first, jobs: states.reduce((sum, count) => sum + count, 0), finishedAt: finishedAt ?? 0 }
  }
}

/** Returns the beginning of a place in a flow, as it stands in the stored extras. A quote within a string is escaped there. */
function flowFragment(first: number): string {
  return `"flow":{"first":${first},`
}
