/** The paint shop of before.ts on Millrace: `node after.ts FILE`. SIGTERM ends it. */
import { setTimeout } from 'node:timers/promises'
import { type Context, defineJob, NonRetryableError, openEngine, stopOnSignals } from '@millrace/engine'

interface Car {
  color: string
  clogs?: number
}

const [file = 'shop.db'] = process.argv.slice(2)
const engine = await openEngine({ file, defaults: { maxAttempts: 1, backoff: { type: 'fixed', delay: 0 }, timeout: Infinity, maxLost: 1 } })
await engine.queues.configure('paint', {
  defaults: { maxAttempts: 3, backoff: { type: 'exponential', delay: 100 } },
  retention: { completed: { age: 'forever', count: 1_000 } },
})
const car = defineJob<Car, string>({ name: 'car', queue: 'paint' })
const part = defineJob<Car, string>({ name: 'part', queue: 'paint' })
const paint = async ({ data, job, progress }: Context<Car>) => {
  const { color, clogs = 0 } = data
  if (color === 'plaid') throw new NonRetryableError('there is no such paint')
  if (job.attempt <= clogs) throw new Error('the nozzle is clogged')
  progress(0.5)
  await setTimeout(20)
  return `${job.name}: ${color}`
}
engine.work([car.handler(paint), part.handler(paint)], { queues: ['paint'], concurrency: 1 })

// Every event is printed as it comes.
const events = engine.events({ after: 'now', filter: { queue: 'paint', types: ['progress', 'completed', 'failed'] } })
async function print() {
  for await (const event of events) {
    if (event.type === 'progress') console.log(`event: painted to ${(event.progress ?? 0) * 100} %`)
    if (event.type === 'completed') console.log(`event: done, ${(await engine.get(event.jobId))?.output}`)
    if (event.type === 'failed') console.log(`event: given up, ${(await engine.get(event.jobId))?.attempts.at(-1)?.error?.message}`)
  }
}
const printed = print()
engine.on('retrying', ({ attempt, message }) => console.log(`worker: attempt ${attempt} failed, ${message}`))
engine.on('failed', ({ attempt, message }) => console.log(`worker: attempt ${attempt} failed, ${message}`))

// Retries: the first attempt fails, the second completes.
const first = await engine.enqueue(car, { color: 'red', clogs: 1 })
await first.result()

// No retry, whatever `maxAttempts` says.
const wrong = await engine.enqueue(car, { color: 'plaid' })
await wrong.result().catch((error: Error) => console.log(`not painted: ${(error.cause as Error).message}`))

// Retries at once, a progress with a message, and a log of every attempt.
const door = defineJob({ name: 'door', queue: 'sand' })
const hood = defineJob({ name: 'hood', queue: 'sand' })
const sand = async ({ job, log, progress }: Context) => {
  progress(0.5, 'half of it')
  log('info', `grain ${80 * job.attempt}`)
  if (job.attempt <= 2) throw new Error('still rough')
}
engine.work([door.handler(sand), hood.handler(sand)], { queues: ['sand'], concurrency: 1 })
const sanded = await engine.enqueue(door, undefined, { maxAttempts: 3, idempotencyKey: 'door-1', idempotencyTtl: '30d' })
await sanded.result()
const smooth = await engine.get({ name: 'door', idempotencyKey: 'door-1' })
console.log(`smooth after ${smooth?.attempt} attempts:`, smooth?.progressNote)
const lines = smooth?.attempts.flatMap(({ logs }) => logs) ?? []
console.log(lines.map(({ message }) => message).join(', '))
const rough = await engine.enqueue(hood)
await rough.result().catch(() => {})
const { jobs: failed } = await engine.list({ queue: 'sand', state: 'failed', lastRun: true })
for (const { name, lastRun } of failed) console.log(`${name} failed: ${lastRun?.error?.message}`)

// A delay: the second job is done first.
const later = await engine.enqueue(car, { color: 'green' }, { delay: 500 })
await engine.enqueue(car, { color: 'white' })
await later.result()

// A priority: the highest number starts first. None at all is 0.
await engine.queues.pause('paint')
const jobs = await engine.enqueueMany([
  { job: car, data: { color: 'third' }, options: { priority: -10 } },
  { job: car, data: { color: 'second' }, options: { priority: -1 } },
  { job: car, data: { color: 'first' } },
])
console.log(`waiting: ${(await engine.queues.get('paint'))?.states.waiting}`)
await engine.queues.resume('paint')
await jobs[0]?.result()

// One job at a time for each key.
const asked = await engine.enqueue(car, { color: 'black' }, { unique: { key: 'car-7' } })
const again = await engine.enqueue(car, { color: 'grey' }, { unique: { key: 'car-7' } })
console.log(`asked twice, one job: ${asked.id === again.id}`)
await asked.result()

// A repeating job: one now, and one a second later.
const cleaned = Promise.withResolvers<void>()
let cleanings = 0
const clean = defineJob({ name: 'clean', queue: 'clean' })
engine.work(
  clean.handler(() => console.log(`cleaned ${++cleanings}`)),
  { queues: ['clean'], concurrency: 1 },
)
engine.on('completed', ({ queue }) => queue === 'clean' && cleanings === 2 && cleaned.resolve())
await engine.schedules.upsert('daily', { every: 1_000, maxRuns: 2, runImmediately: true }, { job: clean })
await cleaned.promise
await engine.schedules.delete('daily')

// A flow: the car is assembled once its parts are painted.
const assemble = defineJob<undefined, string>({ name: 'assemble', queue: 'assemble' })
engine.work(
  assemble.handler(async ({ parents }) => {
    const parts: string[] = []
    for await (const { output = '' } of parents<typeof part>()) parts.push(output)
    return `assembled of ${parts.toSorted().join(' and ')}`
  }),
  { queues: ['assemble'], concurrency: 1 },
)
const { jobs: flow } = await engine.flow([
  { ref: 'door', job: part, data: { color: 'blue' } },
  { ref: 'hood', job: part, data: { color: 'black' } },
  { ref: 'car', job: assemble, dependsOn: ['door', 'hood'] },
])
console.log(await flow.car.result())

const colors = ['red', 'green', 'white']
const { callbacks } = await engine.batch(
  colors.map((color) => part.job({ color })),
  { onSuccess: assemble.job() },
)
console.log(await callbacks.onSuccess.result())

// A rate limit: two inspections in each second.
const inspect = defineJob<{ car: number }>({ name: 'inspect', queue: 'inspect' })
await engine.queues.configure('inspect', { rateLimit: { limit: 2, period: 1_000 } })
engine.work(
  inspect.handler(async () => {}),
  { queues: ['inspect'], concurrency: 1 },
)
const begun = Date.now()
const inspections = await engine.enqueueMany([1, 2, 3, 4].map((car) => ({ job: inspect, data: { car } })))
await Promise.all(inspections.map((job) => job.result()))
console.log(`4 inspections took a second or more: ${Date.now() - begun >= 1_000}`)

// The end: running jobs finish, the others stay in the file.
const polish = defineJob({ name: 'polish', queue: 'polish' })
engine.work(
  polish.handler(async () => {
    console.log('polishing')
    await setTimeout(500)
    console.log('polished')
  }),
  { queues: ['polish'], concurrency: 1 },
)
stopOnSignals(engine, {
  before: async () => {
    await events.return()
    await printed
  },
})
await engine.enqueueMany([{ job: polish }, { job: polish }])
