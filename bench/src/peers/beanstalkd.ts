/** beanstalkd with its log, through a pipelining client of our own: there is no client in npm that pipelines reserves. */
import type { Payload } from '../payload.ts'
import { BeanstalkClient } from './beanstalkClient.ts'
import type { Peer } from './peer.ts'
import { beanstalkdServer } from './servers/beanstalkd.ts'

/** A reserve blocks its connection until there is a job, so each worker has one. */
const CONNECTIONS_MAX = 100

export const beanstalkd: Peer = {
  name: 'beanstalkd',
  packages: [],
  server: beanstalkdServer,
  classes: ['full', 'normal'],
  tasks: ['enqueue', 'drain', 'endToEnd', 'idle'],
  without: { bulk: 'its protocol puts one by one' },
  lacks: { report: 'its jobs have no log and no progress', output: 'it deletes completed jobs' },
  jobsMax: 100_000,
  settings: (durability) =>
    `binlog, ${durability === 'full' ? 'synced on each write' : 'synced every 50 ms'}; puts pipelined on one connection, at most ${CONNECTIONS_MAX} connections that reserve and delete`,
  open: async ({ address }) => {
    const producer = await BeanstalkClient.open(address)
    return {
      enqueue: (payload) => producer.put(JSON.stringify(payload)),
      work: async (handle, concurrency) => {
        const size = Math.min(concurrency, CONNECTIONS_MAX)
        const workers = await Promise.all(Array.from({ length: size }, () => BeanstalkClient.open(address)))
        const underWay = new Set<Promise<void>>()
        const loops = workers.map(async (worker) => {
          for (let job = await worker.reserve(); job !== undefined; ) {
            const { promise: deleted, resolve } = Promise.withResolvers<void>()
            underWay.add(deleted)
            await handle({ payload: JSON.parse(job.body) as Payload, id: job.id, attempt: undefined })
            void worker.delete(job.id).then(() => {
              underWay.delete(deleted)
              resolve()
            })
            // Behind the delete, in the same write.
            job = await worker.reserve()
          }
        })
        return {
          stop: async () => {
            await Promise.all(underWay)
            for (const worker of workers) worker.close()
            await Promise.all(loops)
            const left = await producer.count()
            if (left > 0) throw new Error(`${left} jobs are left`)
          },
        }
      },
      close: async () => producer.close(),
    }
  },
}
