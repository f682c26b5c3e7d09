/**
 * The paint shop while it moves: new jobs go to Millrace, and BullMQ's worker runs those that are left in Redis.
 * `REDIS_URL=redis://localhost:6379 node both.ts FILE`. SIGTERM ends it.
 */
import { defineJob, openEngine, stopOnSignals } from '@millrace/engine'
import { Queue, Worker } from 'bullmq'

/** The work itself, which knows no queue. */
const paint = (color: string) => console.log(`painted ${color}`)

const connection = { url: process.env['REDIS_URL'] ?? 'redis://localhost:6379' }
const old = new Queue<{ color: string }>('paint', { connection })
const oldWorker = new Worker<{ color: string }>('paint', async ({ data }) => paint(data.color), { connection })
oldWorker.on('error', (error) => console.error(error))

const [file = 'shop.db'] = process.argv.slice(2)
const engine = await openEngine({ file, defaults: { maxAttempts: 1, backoff: { type: 'fixed', delay: 0 }, timeout: Infinity, maxLost: 1 } })
const car = defineJob<{ color: string }>({ name: 'car', queue: 'paint' })
engine.work(
  car.handler(({ data }) => paint(data.color)),
  { queues: ['paint'], concurrency: 1 },
)

stopOnSignals(engine, {
  before: async () => {
    await oldWorker.close()
    await old.close()
  },
})
await engine.enqueue(car, { color: 'blue' })

// Once this is 0 and stays 0, the code of BullMQ can go.
const left = await old.getJobCounts('waiting', 'prioritized', 'delayed', 'active', 'waiting-children')
console.log(`left in Redis: ${Object.values(left).reduce((sum, count) => sum + count)}`)
