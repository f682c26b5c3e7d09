/** The mail service of before.ts on Millrace, in the same database: `DATABASE_URL=postgres://... node after.ts`. SIGTERM ends it. */
import { setTimeout } from 'node:timers/promises'
import { type Context, defineJob, openEngine, stopOnSignals } from '@millrace/engine'

interface Mail {
  to: string
  bounces?: number
}

const engine = await openEngine({
  postgres: process.env['DATABASE_URL'] ?? '',
  schema: process.env['SCHEMA'] ?? 'millrace',
  defaults: { maxAttempts: 3, backoff: { type: 'fixed', delay: 0 }, timeout: '15m' },
})

await engine.queues.configure('mail', { defaults: { backoff: { type: 'fixed', delay: '1s' }, timeout: '1m' }, deadLetter: 'mail-dead' })
const mail = defineJob<Mail, { sent: string }>({ name: 'mail', queue: 'mail' })
const send = ({ data, job }: Context<Mail>) => {
  const { to, bounces = 0 } = data
  if (job.attempt <= bounces) throw new Error(`${to} does not answer`)
  console.log(`worker: sent to ${to}`)
  return { sent: to }
}
engine.work(mail.handler(send), { queues: ['mail'], concurrency: 1 })

// Retries: the first attempt fails, the second completes.
const first = await engine.enqueue(mail, { to: 'ada', bounces: 1 })
console.log(`output: ${JSON.stringify(await first.result())}`)

// Given up: another queue gets a copy of the job.
const dead = Promise.withResolvers<void>()
engine.work(
  mail.handler(({ data }) => {
    console.log(`given up: ${data.to}`)
    dead.resolve()
    return { sent: '' }
  }),
  { queues: ['mail-dead'], concurrency: 1 },
)
await engine.enqueue(mail, { to: 'nobody', bounces: 9 }, { maxAttempts: 1 })
await dead.promise

// A delay: the second job is done first.
const later = await engine.enqueue(mail, { to: 'late' }, { delay: '2s' })
await engine.enqueue(mail, { to: 'soon' })
await later.result()

// A priority: the highest number starts first.
await engine.queues.pause('mail')
await engine.enqueueMany([
  mail.job({ to: 'third' }),
  mail.job({ to: 'second' }, { priority: 1 }),
  mail.job({ to: 'first' }, { priority: 10 }),
])
await engine.queues.resume('mail')
const last = await engine.enqueue(mail, { to: 'fourth' }, { priority: -1 })
await last.result()

// One job at a time for each key.
const index = defineJob({ name: 'index', queue: 'index' })
const asked = await engine.enqueue(index, {}, { unique: { key: 'page-7' } })
const again = await engine.enqueue(index, {}, { unique: { key: 'page-7' } })
console.log(`asked twice, one job: ${asked.created && !again.created}`)

// One job in each hour.
const report = defineJob<{ of?: string }>({ name: 'report', queue: 'report' })
const reported = await engine.enqueue(report, {}, { throttle: { key: 'report', period: '1h' } })
const another = await engine.enqueue(report, {}, { throttle: { key: 'report', period: '1h' } })
console.log(`throttled: ${reported.created && !another.created}`)

// A flow: the letter is sent once its parts are written.
const part = defineJob<{ text: string }, { text: string }>({ name: 'part', queue: 'part' })
const letter = defineJob<undefined, { text: string }>({ name: 'letter', queue: 'letter' })
engine.work([
  part.handler(({ data }) => data),
  letter.handler(async ({ parents }) => {
    const texts: string[] = []
    for await (const { output } of parents<typeof part>()) texts.push(output?.text ?? '')
    return { text: texts.toSorted().join(' ') }
  }),
])
const { jobs: flow } = await engine.flow([
  { ref: 'head', job: part, data: { text: 'Dear' } },
  { ref: 'body', job: part, data: { text: 'Reader' } },
  { ref: 'letter', job: letter, dependsOn: ['head', 'body'] },
])
console.log(`letter: ${(await flow.letter.result()).text}`)

// A schedule.
await engine.schedules.upsert(
  'report',
  { cron: '0 3 * * *', timezone: 'Europe/Berlin', overlap: 'allow', catchUp: 'none' },
  { job: report, data: { of: 'yesterday' } },
)
console.log(`next report: ${(await engine.schedules.get('report'))?.nextRunAt?.toISOString()}`)

// A batch: one call for many jobs.
const count = defineJob<{ number: number }>({ name: 'count', queue: 'count' })
const counted = Promise.withResolvers<void>()
await engine.enqueueMany([1, 2, 3].map((number) => count.job({ number })))
engine.work(
  count.handler(
    (jobs) => {
      console.log(`counted to ${jobs.reduce((sum, { data }) => sum + data.number, 0)} in one call`)
      counted.resolve()
      return jobs.map(() => ({ output: undefined }))
    },
    { batch: { size: 10, maxWait: 0 } },
  ),
  { queues: ['count'], concurrency: 10 },
)
await counted.promise

// The end: running jobs finish, the others stay in the database.
const print = defineJob({ name: 'print', queue: 'print' })
engine.work(
  print.handler(async () => {
    console.log('printing')
    await setTimeout(500)
    console.log('printed')
  }),
  { queues: ['print'], concurrency: 1 },
)
stopOnSignals(engine, { timeout: '10s' })
await engine.enqueueMany([print.job({}), print.job({})])
