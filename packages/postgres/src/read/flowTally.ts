/** Counts the jobs of a flow by state. They are consecutive in the table of jobs, so no index is needed to find them. */
import { LIMITS } from '@millrace/core'
import { type RawTally, type ReadFlowTally, TALLY, tallyFrom } from '@millrace/sql'
import type { Connection } from '../connection.ts'

export function prepareFlowTally(connection: Connection): ReadFlowTally {
  const sql = `SELECT ${TALLY} FROM job WHERE job.seq >= $1 AND job.seq < $2 AND strpos(job.extras, $3) > 0`
  return (first) => tallyFrom(connection.get(sql, first, first + LIMITS.jobsPerCommand, flowFragment(first)) as RawTally, first)
}

/** Returns the beginning of a place in a flow, as it stands in the stored extras. A quote within a string is escaped there. */
function flowFragment(first: number): string {
  return `"flow":{"first":${first},`
}
