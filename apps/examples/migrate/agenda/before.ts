/** A reminder service on Agenda, to be moved to Millrace (after.ts): `DATABASE_URL=postgres://... node before.ts`. SIGTERM ends it. */
import { setTimeout } from 'node:timers/promises'
import { PostgresBackend } from '@agendajs/postgres-backend'
import { Agenda, backoffStrategies, type Job } from 'agenda'

interface Reminder {
  to: string
  busy?: number
}

const agenda = new Agenda({
  backend: new PostgresBackend({
    connectionString: process.env['DATABASE_URL'] ?? '',
    tableName: process.env['TABLE'] ?? 'agenda_jobs',
    channelName: process.env['TABLE'] ?? 'agenda_jobs',
  }),
  processEvery: 500,
  defaultConcurrency: 1,
})
await agenda.ready

agenda.define(
  'remind',
  async (job: Job<Reminder>) => {
    const { to, busy = 0 } = job.attrs.data
    if ((job.attrs.failCount ?? 0) < busy) throw new Error(`${to} is busy`)
    console.log(`worker: reminded ${to}`)
  },
  { backoff: backoffStrategies.constant({ delay: 200, maxRetries: 2 }), lockLifetime: 60_000 },
)
await agenda.start()
agenda.on('retry', (_job, { attempt, error }) => console.log(`worker: attempt ${attempt} failed, ${error.message}`))
agenda.on('retry exhausted', (error, { attrs }) => console.log(`worker: given up after ${attrs.failCount}, ${error.message}`))

// Agenda tells of an end by an event: this resolves when jobs of that name have succeeded so often.
const succeeded = (name: string, times = 1) =>
  new Promise<void>((resolve) => {
    let left = times
    agenda.on(`success:${name}`, () => --left === 0 && resolve())
  })

// Retries: the first attempt fails, the second completes.
const first = succeeded('remind')
await agenda.now('remind', { to: 'ada', busy: 1 })
await first

// Given up: two retries are not enough.
const exhausted = new Promise((resolve) => agenda.once('retry exhausted', resolve))
await agenda.now('remind', { to: 'nobody', busy: 9 })
await exhausted

// A delay: the second job is done first.
const both = succeeded('remind', 2)
await agenda.schedule(new Date(Date.now() + 1_500), 'remind', { to: 'late' })
await agenda.now('remind', { to: 'soon' })
await both

// A priority: of jobs that are due at the same time, the highest number starts first.
const three = succeeded('remind', 3)
// Far enough for a slow machine to save all three first.
const noon = new Date(Date.now() + 4_000)
await agenda.create('remind', { to: 'third' }).schedule(noon).priority('low').save()
await agenda.create('remind', { to: 'second' }).schedule(noon).save()
await agenda.create('remind', { to: 'first' }).schedule(noon).priority('high').save()
await three

// One job for each key.
const once = succeeded('remind')
const soon = new Date(Date.now() + 1_500)
const unique = { 'data.to': 'grace' }
await agenda.create('remind', { to: 'grace' }).unique(unique, { insertOnly: true }).schedule(soon).save()
await agenda.create('remind', { to: 'grace' }).unique(unique, { insertOnly: true }).schedule(soon).save()
await once

// The last of many calls.
const quiet = succeeded('index')
agenda.define('index', async ({ attrs }: Job<{ edit: number }>) => console.log(`indexed at edit ${attrs.data.edit}`))
for (const edit of [1, 2, 3]) await agenda.nowDebounced('index', { edit, page: 7 }, { 'data.page': 7 }, 1_000)
await quiet

// A repeating job: one now, and one a second later.
const twice = succeeded('clean', 2)
let cleanings = 0
agenda.define('clean', async () => console.log(`cleaned ${++cleanings}`))
await agenda.every('1 second', 'clean')
await twice
await agenda.cancel({ name: 'clean' })

// Progress, as a percentage.
agenda.define('count', (job: Job) => job.touch(50))
const counted = succeeded('count')
await agenda.now('count')
await counted
const [count] = (await agenda.queryJobs({ name: 'count' })).jobs
console.log(`counted to ${count?.progress} %`)

// The end: running jobs finish, the others stay in the database.
agenda.define('print', async () => {
  console.log('printing')
  await setTimeout(500)
  console.log('printed')
})
process.once('SIGTERM', async () => {
  await agenda.drain(10_000)
  process.exit()
})
await agenda.now('print')
await agenda.now('print')
