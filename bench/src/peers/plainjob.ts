/** plainjob: SQLite at NORMAL, on the caller's thread; one job at a time per worker, by polling. */
import type Database from 'better-sqlite3'
import type { Payload } from '../payload.ts'
import type { Peer } from './peer.ts'

const QUIET = { error: console.error, warn: console.error, info: () => {}, debug: () => {} }
/** It sleeps only where nothing waits. */
const POLL_MS = 1
const YIELD_EVERY_MS = 1

export const plainjob: Peer = {
  name: 'plainjob',
  packages: ['plainjob'],
  server: undefined,
  classes: ['normal'],
  tasks: ['enqueue', 'bulk', 'drain', 'endToEnd'],
  without: { idle: 'it polls' },
  lacks: { report: 'its jobs have no log and no progress', output: 'it stores no return value' },
  jobsMax: 200_000,
  settings: () => `SQLite WAL, NORMAL as it sets itself, one worker (a second one gains nothing on one thread), polls every ${POLL_MS} ms`,
  open: async ({ file, load }) => {
    const { better, defineQueue, defineWorker } = await load<typeof import('plainjob')>('plainjob')
    const { default: Sqlite } = await load<{ readonly default: typeof Database }>('better-sqlite3')
    const queue = defineQueue({ connection: better(new Sqlite(file)), logger: QUIET })
    return {
      enqueue: async (payload) => queue.add('noop', payload),
      enqueueMany: async (payloads) => queue.addMany('noop', [...payloads]),
      work: async (handle) => {
        // Its loop never leaves the thread to others while jobs wait: producers in the same process would never have a turn.
        let yieldedMs = performance.now()
        const worker = defineWorker(
          'noop',
          async ({ data, id }) => {
            await handle({ payload: JSON.parse(data) as Payload, id, attempt: undefined })
            if (performance.now() - yieldedMs < YIELD_EVERY_MS) return
            await new Promise((resolve) => setImmediate(resolve))
            yieldedMs = performance.now()
          },
          { queue, logger: QUIET, pollIntervall: POLL_MS },
        )
        const running = worker.start()
        return {
          stop: async () => {
            await worker.stop()
            await running
            const done = queue.countJobs({ status: 2 })
            if (queue.countJobs() !== done) throw new Error(`${done} of ${queue.countJobs()} jobs are done`)
          },
        }
      },
      close: async () => queue.close(),
    }
  },
}
