/** The reminder service of before.ts on Millrace, in one file: `node after.ts FILE`. SIGTERM ends it. */
import { setTimeout } from 'node:timers/promises'
import { type Context, defineJob, openEngine, stopOnSignals } from '@millrace/engine'

interface Reminder {
  to: string
  busy?: number
}

const [file = 'jobs.db'] = process.argv.slice(2)
const engine = await openEngine({ file, defaults: { maxAttempts: 1, timeout: '10m' } })

const remind = defineJob<Reminder>({ name: 'remind', maxAttempts: 3, backoff: { type: 'fixed', delay: 200 }, timeout: '1m' })
engine.work(
  remind.handler(({ data, job }: Context<Reminder>) => {
    const { to, busy = 0 } = data
    if (job.attempt <= busy) throw new Error(`${to} is busy`)
    console.log(`worker: reminded ${to}`)
  }),
  { concurrency: 1 },
)
engine.on('retrying', ({ attempt, message }) => console.log(`worker: attempt ${attempt} failed, ${message}`))
engine.on('failed', ({ attempt, message }) => console.log(`worker: given up after ${attempt}, ${message}`))

// Retries: the first attempt fails, the second completes.
const first = await engine.enqueue(remind, { to: 'ada', busy: 1 })
await first.result()

// Given up: two retries are not enough.
const lost = await engine.enqueue(remind, { to: 'nobody', busy: 9 })
await lost.result().catch(() => {})

// A delay: the second job is done first.
const late = await engine.enqueue(remind, { to: 'late' }, { runAt: new Date(Date.now() + 1_500) })
await engine.enqueue(remind, { to: 'soon' })
await late.result()

// A priority: of jobs that are due, the highest number starts first.
const noon = new Date(Date.now() + 1_500)
const third = await engine.enqueue(remind, { to: 'third' }, { runAt: noon, priority: -10 })
await engine.enqueue(remind, { to: 'second' }, { runAt: noon })
await engine.enqueue(remind, { to: 'first' }, { runAt: noon, priority: 10 })
await third.result()

// One job for each key.
const soon = new Date(Date.now() + 1_500)
await engine.enqueue(remind, { to: 'grace' }, { unique: { by: ['to'] }, runAt: soon })
const once = await engine.enqueue(remind, { to: 'grace' }, { unique: { by: ['to'] }, runAt: soon })
await once.result()

// The last of many calls.
const index = defineJob<{ edit: number; page: number }>({ name: 'index' })
engine.work(index.handler(({ data }) => console.log(`indexed at edit ${data.edit}`)))
for (const edit of [1, 2]) await engine.enqueue(index, { edit, page: 7 }, { debounce: { key: 'page-7', delay: '1s' } })
const quiet = await engine.enqueue(index, { edit: 3, page: 7 }, { debounce: { key: 'page-7', delay: '1s' } })
await quiet.result()

// A repeating job: one now, and one a second later.
const twice = Promise.withResolvers<void>()
let cleanings = 0
const clean = defineJob({ name: 'clean' })
engine.work(clean.handler(() => console.log(`cleaned ${++cleanings}`)))
engine.on('completed', ({ name }) => name === 'clean' && cleanings === 2 && twice.resolve())
await engine.schedules.upsert('clean', { every: '1s', runImmediately: true }, { job: clean })
await twice.promise
await engine.schedules.delete('clean')

// Progress, as a fraction.
const count = defineJob({ name: 'count' })
engine.work(count.handler(({ progress }) => progress(0.5)))
const counted = await engine.enqueue(count)
await counted.result()
console.log(`counted to ${((await engine.get(counted.id))?.progress ?? 0) * 100} %`)

// The end: running jobs finish, the others stay in the file.
const print = defineJob({ name: 'print' })
engine.work(
  print.handler(async () => {
    console.log('printing')
    await setTimeout(500)
    console.log('printed')
  }),
  { concurrency: 1 },
)
stopOnSignals(engine, { timeout: '10s' })
await engine.enqueue(print)
await engine.enqueue(print)
