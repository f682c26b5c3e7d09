/** BullMQ on Redis. */
import type { Payload } from '../payload.ts'
import type { Peer, PeerJob } from './peer.ts'
import { redis } from './servers/redis.ts'

/** What of BullMQ is used here. */
interface BullMq {
  readonly Queue: new (name: string, options: object) => BullQueue
  readonly Worker: new (name: string, handle: (job: BullJob) => Promise<unknown>, options: object) => BullWorker
}
interface BullJob {
  readonly data: Payload
  readonly id: string | undefined
  readonly attemptsMade: number
  log(line: string): Promise<unknown>
  updateProgress(progress: number): Promise<unknown>
}
interface BullQueue {
  add(name: string, data: Payload, options: object): Promise<unknown>
  addBulk(jobs: readonly object[]): Promise<unknown>
  waitUntilReady(): Promise<unknown>
  getJobCounts(): Promise<Readonly<Record<string, number>>>
  close(): Promise<void>
}
interface BullWorker {
  on(event: string, listener: (error: Error) => void): void
  waitUntilReady(): Promise<unknown>
  close(): Promise<void>
}

const NAME = 'noop'
/** Its documentation: kept jobs cost memory. */
const OPTIONS = { removeOnComplete: true, removeOnFail: 1_000 }

export const bullmq: Peer = {
  name: 'bullmq',
  packages: ['bullmq', 'ioredis'],
  server: redis,
  classes: ['full', 'normal'],
  tasks: ['enqueue', 'bulk', 'drain', 'endToEnd', 'idle'],
  lacks: {},
  jobsMax: 100_000,
  settings: (durability) =>
    `Redis appendonly, appendfsync ${durability === 'full' ? 'always' : 'everysec (up to 1 s lost)'}; auto-pipelining, removeOnComplete`,
  open: async ({ address, load }) => {
    const { Queue, Worker } = await load<BullMq>('bullmq')
    const [host, port] = address.split(':')
    const connection = { host, port: Number(port), maxRetriesPerRequest: null, enableAutoPipelining: true }
    const queue = new Queue(NAME, { connection })
    await queue.waitUntilReady()
    return {
      enqueue: (payload) => queue.add(NAME, payload, OPTIONS),
      enqueueMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: NAME, data, opts: OPTIONS }))),
      work: async (handle, concurrency) => {
        const worker = new Worker(NAME, async (job) => handle(jobOf(job)), { connection, concurrency })
        worker.on('error', (error) => console.error(error))
        await worker.waitUntilReady()
        return {
          stop: async () => {
            await worker.close()
            const { waiting = 0, active = 0, failed = 0 } = await queue.getJobCounts()
            if (waiting + active + failed > 0) throw new Error(`left: ${waiting} waiting, ${active} active, ${failed} failed`)
          },
        }
      },
      close: () => queue.close(),
    }
  },
}

/** Both at once: pipelined, they are one round trip. */
function jobOf(job: BullJob): PeerJob {
  const report = () => Promise.all([job.log('resized'), job.updateProgress(1)])
  return { payload: job.data, id: job.id, attempt: job.attemptsMade, report }
}
