/** The fields of an attached worker. */
import { QUEUE_ORDERS, WORKER_KINDS } from '@millrace/core'
import { BOOLEAN, COUNT, choice, DURATION, list, record, STRING, TIME } from './kind.ts'

export const WORKER = record('Worker', {
  id: { kind: STRING, says: 'Id of the worker' },
  host: { kind: STRING, says: 'Host on which its process runs' },
  pid: { kind: COUNT, says: 'Number of its process' },
  names: { kind: list(STRING), says: 'Job names that it serves' },
  queues: { kind: list(STRING), says: 'Queues that it serves', null: 'if it serves all' },
  order: { kind: choice(QUEUE_ORDERS), says: 'Order in which it serves `queues`: fair takes turns, strict serves an earlier one first' },
  minConcurrency: { kind: COUNT, says: 'It gets more jobs when less weight than this runs' },
  maxConcurrency: { kind: COUNT, says: 'Weight that it runs at the same time' },
  runningJobs: { kind: COUNT, says: 'Jobs that it runs' },
  runningWeight: { kind: COUNT, says: 'Weight of the jobs that it runs' },
  zombies: { kind: COUNT, says: 'Runs that ignored their abort for the whole grace, and may still continue' },
  draining: { kind: BOOLEAN, says: 'True if it stops: it gets no more jobs' },
  paused: { kind: BOOLEAN, says: 'True if it takes no jobs until it resumes; running jobs continue' },
  away: { kind: BOOLEAN, says: 'True if its connection is lost or it is silent: it keeps its jobs for their leases, and gets no others' },
  attachedAt: {
    kind: TIME,
    says: 'Time at which it last attached',
    zero: 'until it is back at a reopened engine',
  },
  lastSeenAt: {
    kind: TIME,
    says: 'Time at which the engine last heard from it, at most 15 s ago if all is well',
    zero: 'until it is back at a reopened engine',
  },
  nextDeadlineAt: { kind: TIME, says: 'Earliest deadline of the jobs that it runs', missing: 'if none has one' },
  kind: {
    kind: choice(WORKER_KINDS),
    says: 'Place in which its handlers run: `inline` in the engine’s process, `threads` or `processes` in a pool, `remote` in another process, `foreign` in a client of another library',
  },
  version: {
    kind: STRING,
    says: 'Version of the library in its process; for a foreign client, the name and version that it gives',
    missing: 'if it is unknown',
  },
  eventLoopDelayMs: {
    kind: DURATION,
    says: '99th percentile of the delay of its event loop since its last report, 5 to 15 s ago',
    missing: 'if it reports none',
  },
  rssBytes: { kind: COUNT, says: 'Memory of its process, of the same report', missing: 'if it reports none' },
})

const { id, ...ROWS } = WORKER.rows

/** The same with what only the engine's answer has. */
export const ATTACHED_WORKER = record('Worker', {
  id,
  session: { kind: COUNT, says: 'Number of its session, which grows from worker to worker' },
  ...ROWS,
})
