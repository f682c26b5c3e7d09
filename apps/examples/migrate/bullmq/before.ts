/** A paint shop on BullMQ, to be moved to Millrace (after.ts): `REDIS_URL=redis://localhost:6379 node before.ts`. SIGTERM ends it. */
import { setTimeout } from 'node:timers/promises'
import { FlowProducer, Queue, QueueEvents, UnrecoverableError, Worker } from 'bullmq'

interface Car {
  color: string
  clogs?: number
}

const connection = { url: process.env['REDIS_URL'] ?? 'redis://localhost:6379' }

const paint = new Queue<Car, string>('paint', {
  connection,
  defaultJobOptions: { attempts: 3, backoff: { type: 'exponential', delay: 100 }, removeOnComplete: { count: 1_000 } },
})
const painter = new Worker<Car, string>(
  'paint',
  async (job) => {
    const { color, clogs = 0 } = job.data
    if (color === 'plaid') throw new UnrecoverableError('there is no such paint')
    if (job.attemptsMade < clogs) throw new Error('the nozzle is clogged')
    await job.updateProgress(50)
    await setTimeout(20)
    return `${job.name}: ${color}`
  },
  { connection },
)

// Every event is printed as it comes.
const events = new QueueEvents('paint', { connection })
await events.waitUntilReady()
events.on('progress', ({ data }) => console.log(`event: painted to ${data} %`))
events.on('completed', ({ returnvalue }) => console.log(`event: done, ${returnvalue}`))
events.on('failed', ({ failedReason }) => console.log(`event: given up, ${failedReason}`))
painter.on('failed', (job, error) => console.log(`worker: attempt ${job?.attemptsMade} failed, ${error.message}`))
painter.on('error', (error) => console.error(error))

// Retries: the first attempt fails, the second completes.
const first = await paint.add('car', { color: 'red', clogs: 1 })
await first.waitUntilFinished(events)

// No retry, whatever `attempts` says.
const wrong = await paint.add('car', { color: 'plaid' })
await wrong.waitUntilFinished(events).catch((error: Error) => console.log(`not painted: ${error.message}`))

// Retries at once, a progress with a message, and a log of every attempt.
const sander = new Worker(
  'sand',
  async (job) => {
    await job.updateProgress({ percent: 50, message: 'half of it' })
    await job.log(`grain ${80 * (job.attemptsMade + 1)}`)
    if (job.attemptsMade < 2) throw new Error('still rough')
  },
  { connection },
)
sander.on('failed', (job, error) => console.log(`worker: attempt ${job?.attemptsMade} failed, ${error.message}`))
const sand = new Queue('sand', { connection })
const sanded = new QueueEvents('sand', { connection })
await sanded.waitUntilReady()
const door = await sand.add('door', {}, { attempts: 3, jobId: 'door-1' })
await door.waitUntilFinished(sanded)
const smooth = (await sand.getJob('door-1')) ?? door
console.log(`smooth after ${smooth.attemptsMade} attempts:`, (smooth.progress as { message: string }).message)
const { logs } = await sand.getJobLogs('door-1')
console.log(logs.join(', '))
const hood = await sand.add('hood', {})
await hood.waitUntilFinished(sanded).catch(() => {})
for (const { name, failedReason } of await sand.getFailed()) console.log(`${name} failed: ${failedReason}`)

// A delay: the second job is done first.
const later = await paint.add('car', { color: 'green' }, { delay: 500 })
await paint.add('car', { color: 'white' })
await later.waitUntilFinished(events)

// A priority: the lowest number starts first. None at all comes before 1.
await paint.pause()
const jobs = await paint.addBulk([
  { name: 'car', data: { color: 'third' }, opts: { priority: 10 } },
  { name: 'car', data: { color: 'second' }, opts: { priority: 1 } },
  { name: 'car', data: { color: 'first' } },
])
console.log(`waiting: ${await paint.count()}`)
await paint.resume()
await jobs[0]?.waitUntilFinished(events)

// One job at a time for each id.
const asked = await paint.add('car', { color: 'black' }, { deduplication: { id: 'car-7' } })
const again = await paint.add('car', { color: 'grey' }, { deduplication: { id: 'car-7' } })
console.log(`asked twice, one job: ${asked.id === again.id}`)
await asked.waitUntilFinished(events)

// A repeating job: one now, and one a second later.
const cleaned = Promise.withResolvers<void>()
let cleanings = 0
const cleaner = new Worker('clean', async () => console.log(`cleaned ${++cleanings}`), { connection })
cleaner.on('completed', () => cleanings === 2 && cleaned.resolve())
const clean = new Queue('clean', { connection })
await clean.upsertJobScheduler('daily', { every: 1_000, limit: 2 }, { name: 'clean' })
await cleaned.promise
await clean.removeJobScheduler('daily')

// A flow: the car is assembled once its parts are painted.
const flows = new FlowProducer({ connection })
const assembler = new Worker(
  'assemble',
  async (job) =>
    `assembled of ${Object.values(await job.getChildrenValues<string>())
      .toSorted()
      .join(' and ')}`,
  { connection },
)
const assembled = new QueueEvents('assemble', { connection })
await assembled.waitUntilReady()
const opts = { failParentOnFailure: true }
const { job: whole } = await flows.add({
  name: 'car',
  queueName: 'assemble',
  children: [
    { name: 'part', queueName: 'paint', data: { color: 'blue' }, opts },
    { name: 'part', queueName: 'paint', data: { color: 'black' }, opts },
  ],
})
console.log(await whole.waitUntilFinished(assembled))

const colors = ['red', 'green', 'white']
const { job: fleet } = await flows.add({
  name: 'fleet',
  queueName: 'assemble',
  children: colors.map((color) => ({ name: 'part', queueName: 'paint', data: { color }, opts })),
})
console.log(await fleet.waitUntilFinished(assembled))

// A rate limit: two inspections in each second.
const inspector = new Worker('inspect', async () => {}, { connection, limiter: { max: 2, duration: 1_000 } })
const inspected = new QueueEvents('inspect', { connection })
await inspected.waitUntilReady()
const inspect = new Queue('inspect', { connection })
const begun = Date.now()
const inspections = await inspect.addBulk([1, 2, 3, 4].map((car) => ({ name: 'inspect', data: { car } })))
await Promise.all(inspections.map((job) => job.waitUntilFinished(inspected)))
console.log(`4 inspections took a second or more: ${Date.now() - begun >= 1_000}`)

// The end: running jobs finish, the others stay in Redis.
const polish = new Queue('polish', { connection })
const polisher = new Worker(
  'polish',
  async () => {
    console.log('polishing')
    await setTimeout(500)
    console.log('polished')
  },
  { connection },
)
process.once('SIGTERM', async () => {
  await Promise.all([painter, sander, cleaner, assembler, inspector, polisher].map((worker) => worker.close()))
  await Promise.all([paint, sand, clean, inspect, polish, flows, events, sanded, assembled, inspected].map((one) => one.close()))
})
await polish.addBulk([
  { name: 'car', data: {} },
  { name: 'car', data: {} },
])
