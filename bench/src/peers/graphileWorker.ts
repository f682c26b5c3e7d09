/** graphile-worker on Postgres: jobs fetched in batches into a local queue, completions batched. */
import { EventEmitter } from 'node:events'
import type { Payload } from '../payload.ts'
import type { Peer } from './peer.ts'
import { POSTGRES_SETTINGS, postgres } from './servers/postgres.ts'

const POOL = 20
const LOCAL_QUEUE = 500
/** What its documentation calls a start; 0 batches what completes at the same time, and is the fastest here. */
const COMPLETE_BATCH_MS = 0
const TASK = 'noop'

export const graphileWorker: Peer = {
  name: 'graphile-worker',
  packages: ['graphile-worker'],
  server: postgres,
  classes: ['full'],
  tasks: ['enqueue', 'bulk', 'drain', 'endToEnd', 'idle'],
  lacks: { report: 'its jobs have no log and no progress', output: 'it deletes completed jobs' },
  jobsMax: 50_000,
  settings: () =>
    `local queue of ${LOCAL_QUEUE}, completions batched (${COMPLETE_BATCH_MS} ms), neither when idle; ${POOL} connections; ${POSTGRES_SETTINGS}`,
  open: async ({ address, load }) => {
    const { Logger, makeWorkerUtils, run } = await load<typeof import('graphile-worker')>('graphile-worker')
    const logger = new Logger(() => (level, message) => void (level === 'error' && console.error(message)))
    const utils = await makeWorkerUtils({ connectionString: address, maxPoolSize: POOL, logger })
    await utils.migrate()
    return {
      enqueue: (payload) => utils.addJob(TASK, payload),
      enqueueMany: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: TASK, payload }))),
      work: async (handle, concurrency) => {
        const preset = {
          worker: {
            connectionString: address,
            concurrentJobs: concurrency,
            maxPoolSize: POOL,
            logger,
            ...(concurrency > 1 && {
              localQueue: { size: LOCAL_QUEUE },
              completeJobBatchDelay: COMPLETE_BATCH_MS,
              failJobBatchDelay: COMPLETE_BATCH_MS,
            }),
          },
        }
        const runner = await run({
          preset,
          noHandleSignals: true,
          events: new EventEmitter(),
          taskList: {
            [TASK]: async (payload, { job }) => {
              await handle({ payload: payload as Payload, id: job.id, attempt: job.attempts })
            },
          },
        })
        return { stop: () => runner.stop() }
      },
      close: async () => utils.release(),
    }
  },
}
