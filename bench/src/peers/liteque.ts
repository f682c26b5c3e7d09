/** liteque: SQLite at NORMAL through drizzle, on the caller's thread; takes jobs one by one, by polling. */
import type { Payload } from '../payload.ts'
import type { Peer } from './peer.ts'

const POLL_MS = 1
const TIMEOUT_SECS = 600

export const liteque: Peer = {
  name: 'liteque',
  packages: ['liteque'],
  server: undefined,
  classes: ['normal'],
  tasks: ['enqueue', 'drain', 'endToEnd'],
  without: { bulk: 'it has no call for many jobs', idle: 'it polls' },
  lacks: { report: 'its jobs have no log and no progress', output: 'it stores no return value' },
  jobsMax: 5_000,
  settings: () => `SQLite WAL, NORMAL as it sets itself, polls every ${POLL_MS} ms; its asynchronous transactions statement by statement`,
  open: async ({ file, load }) => {
    const { buildDBClient, Runner, SqliteQueue } = await load<typeof import('liteque')>('liteque')
    const db = buildDBClient(file, { runMigrations: true, walEnabled: true })
    // It gives asynchronous functions to synchronous transactions. Older drivers committed at the first await, newer ones refuse.
    Object.assign(db, { transaction: (work: (tx: typeof db) => unknown) => work(db) })
    const queue = new SqliteQueue<Payload>('noop', db, { defaultJobArgs: { numRetries: 0 }, keepFailedJobs: true })
    return {
      enqueue: (payload) => queue.enqueue(payload),
      work: async (handle, concurrency) => {
        const runner = new Runner<Payload>(
          queue,
          {
            run: async ({ data, id, runNumber }) => {
              await handle({ payload: data, id, attempt: runNumber })
            },
          },
          { pollIntervalMs: POLL_MS, timeoutSecs: TIMEOUT_SECS, concurrency },
        )
        const running = runner.run()
        return {
          stop: async () => {
            runner.stop()
            await running
            const left = await queue.stats()
            if (left.pending + left.pending_retry + left.running + left.failed > 0) throw new Error(`left: ${JSON.stringify(left)}`)
          },
        }
      },
      close: async () => {},
    }
  },
}
