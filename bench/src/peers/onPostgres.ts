/** Millrace on Postgres, behind the interface of other queues: the same server, the same harness, the same durability. */
import { openEngine } from '@millrace/engine'
import { noop } from '../jobs.ts'
import type { Payload } from '../payload.ts'
import type { Peer } from './peer.ts'
import { POSTGRES_SETTINGS, postgres } from './servers/postgres.ts'

export const onPostgres: Peer = {
  name: 'millrace-postgres',
  packages: ['pg'],
  server: postgres,
  classes: ['full'],
  tasks: ['enqueue', 'bulk', 'drain', 'endToEnd', 'idle'],
  lacks: {},
  jobsMax: 200_000,
  settings: () => `one process owns the schema; ${POSTGRES_SETTINGS}`,
  open: async ({ address, durability }) => {
    const engine = await openEngine({ postgres: address, durability })
    return {
      enqueue: (payload) => engine.enqueue(noop, payload),
      enqueueMany: (payloads) => engine.enqueueMany(payloads.map((data) => ({ job: noop, data }))),
      work: async (handle, concurrency) => {
        const worker = engine.work(
          noop.handler(({ data, job, log, progress }) =>
            handle({
              payload: data as Payload,
              id: job.id,
              attempt: job.attempt,
              report: async () => {
                log('info', 'resized')
                progress(1)
              },
            }),
          ),
          { concurrency },
        )
        return { stop: () => worker.stop() }
      },
      close: () => engine.stop(),
    }
  },
}
