/** pg-boss on Postgres: jobs in batches; woken by NOTIFY where latency is asked for, which slows every new job down. */
import type { Payload } from '../payload.ts'
import type { Peer } from './peer.ts'
import { POSTGRES_SETTINGS, postgres } from './servers/postgres.ts'

const POOL = 20
const BATCH = 500
const WORKERS = 4
const POLL_SECONDS = 0.5
const QUEUE = 'noop'

export const pgBoss: Peer = {
  name: 'pg-boss',
  packages: ['pg-boss'],
  server: postgres,
  classes: ['full'],
  tasks: ['enqueue', 'bulk', 'drain', 'endToEnd', 'idle'],
  lacks: { report: 'its jobs have no log and no progress' },
  jobsMax: 50_000,
  settings: () =>
    `${WORKERS} workers of batches of ${BATCH}, each batch's handlers at once, burst while batches are full, outputs by perJobResults, one worker and LISTEN/NOTIFY when idle; ${POOL} connections; ${POSTGRES_SETTINGS}`,
  open: async ({ address, concurrency, output, load }) => {
    const notify = concurrency === 1
    const { PgBoss } = await load<typeof import('pg-boss')>('pg-boss')
    const boss = new PgBoss({ connectionString: address, max: POOL, useListenNotify: notify, schedule: false, supervise: false })
    boss.on('error', (error) => console.error(error))
    await boss.start()
    await boss.createQueue(QUEUE, { notify })
    return {
      enqueue: (payload) => boss.send(QUEUE, payload),
      enqueueMany: (payloads) =>
        boss.insert(
          QUEUE,
          payloads.map((data) => ({ data })),
        ),
      work: async (handle) => {
        await boss.work<Payload>(
          QUEUE,
          {
            batchSize: Math.min(BATCH, concurrency),
            localConcurrency: concurrency === 1 ? 1 : WORKERS,
            pollingIntervalSeconds: POLL_SECONDS,
            notifyPollingIntervalSeconds: POLL_SECONDS,
            burstWhenBatchFull: true,
            perJobResults: output,
          },
          async (jobs) => {
            const outputs = await Promise.all(jobs.map(({ data, id }) => handle({ payload: data, id, attempt: undefined })))
            return output ? jobs.map(({ id }, index) => ({ id, status: 'completed', output: outputs[index] })) : undefined
          },
        )
        return { stop: () => boss.offWork(QUEUE, { wait: true }) }
      },
      close: () => boss.stop({ graceful: true, close: true }),
    }
  },
}
