/** Turns a row into a record in memory. */

import { parsePolicy } from '../../policy.ts'
import { type Job, newJob } from '../records/job.ts'
import type { KeyBacklog } from '../records/keyBacklog.ts'
import type { Lane } from '../records/lane.ts'
import type { JobRow } from '../records/rows.ts'

/** Returns a row's record as the tables hold it: in its lane, and behind its backlog. */
export function jobFrom(row: JobRow, lane: Lane, backlog: KeyBacklog | undefined): Job {
  const job = newJob(row, lane, row.state, row, parsePolicy(row.policy), row.extras, row.data)
  job.run = row.run
  job.uncounted = row.uncounted
  job.checkpoint = row.checkpoint
  job.progress = row.progress
  job.output = row.output
  job.sessionId = row.sessionId
  job.startedAt = row.startedAt
  job.finishedAt = row.finishedAt
  job.cancelRequested = row.cancelRequested
  job.dropped = row.dropped
  if (lane.passed?.seq === row.seq) job.passedMono = lane.passed.mono
  if (backlog !== undefined) job.parked = backlog
  return job
}
