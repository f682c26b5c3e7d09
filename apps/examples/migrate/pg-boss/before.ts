/** A mail service on pg-boss, to be moved to Millrace (after.ts): `DATABASE_URL=postgres://... node before.ts`. SIGTERM ends it. */
import { setTimeout } from 'node:timers/promises'
import { type Job, type JobWithMetadata, PgBoss } from 'pg-boss'

interface Mail {
  to: string
  bounces?: number
}

const boss = new PgBoss({ connectionString: process.env['DATABASE_URL'] ?? '', schema: process.env['SCHEMA'] ?? 'pgboss' })
boss.on('error', (error) => console.error(error))
await boss.start()

await boss.createQueue('mail-dead')
await boss.createQueue('mail', { retryLimit: 2, retryDelay: 1, expireInSeconds: 60, deadLetter: 'mail-dead' })
const send = async ([job]: JobWithMetadata<Mail>[]) => {
  const { to, bounces = 0 } = job?.data ?? { to: '' }
  if ((job?.retryCount ?? 0) < bounces) throw new Error(`${to} does not answer`)
  console.log(`worker: sent to ${to}`)
  return { sent: to }
}
await boss.work('mail', { includeMetadata: true, pollingIntervalSeconds: 0.5 }, send)

// pg-boss tells nobody of an end: whoever wants to know asks.
async function ended(queue: string, id: string | null) {
  for (;;) {
    const [job] = await boss.findJobs(queue, { id: id ?? '' })
    if (job?.state === 'completed' || job?.state === 'failed') return job
    await setTimeout(100)
  }
}

// Retries: the first attempt fails, the second completes.
const first = await boss.send('mail', { to: 'ada', bounces: 1 })
console.log(`output: ${JSON.stringify((await ended('mail', first)).output)}`)

// Given up: another queue gets a copy of the job.
const dead = Promise.withResolvers<void>()
await boss.work('mail-dead', { pollingIntervalSeconds: 0.5 }, async ([job]: Job<Mail>[]) => {
  console.log(`given up: ${job?.data.to}`)
  dead.resolve()
})
await boss.send('mail', { to: 'nobody', bounces: 9 }, { retryLimit: 0 })
await dead.promise

// A delay: the second job is done first.
const later = await boss.send('mail', { to: 'late' }, { startAfter: 2 })
await boss.send('mail', { to: 'soon' })
await ended('mail', later)

// A priority: the highest number starts first.
await boss.offWork('mail')
await boss.insert('mail', [{ data: { to: 'third' } }, { data: { to: 'second' }, priority: 1 }, { data: { to: 'first' }, priority: 10 }])
await boss.work('mail', { includeMetadata: true, pollingIntervalSeconds: 0.5 }, send)
const last = await boss.send('mail', { to: 'fourth' }, { priority: -1 })
await ended('mail', last)

// One job at a time for each key.
await boss.createQueue('index', { policy: 'exclusive' })
const asked = await boss.send('index', {}, { singletonKey: 'page-7' })
const again = await boss.send('index', {}, { singletonKey: 'page-7' })
console.log(`asked twice, one job: ${asked !== null && again === null}`)

// One job in each hour.
await boss.createQueue('report')
const report = await boss.sendThrottled('report', {}, null, 3_600)
const another = await boss.sendThrottled('report', {}, null, 3_600)
console.log(`throttled: ${report !== null && another === null}`)

// A flow: the letter is sent once its parts are written.
await boss.createQueue('part')
await boss.createQueue('letter')
await boss.work('part', { pollingIntervalSeconds: 0.5 }, async ([job]: Job<{ text: string }>[]) => job?.data)
await boss.work('letter', { pollingIntervalSeconds: 0.5 }, async ([job]: Job[]) => {
  const parts = await boss.getDependencies('letter', job?.id ?? '')
  const written = await Promise.all(parts.map(({ name, id }) => ended(name, id)))
  return {
    text: written
      .map(({ output }) => (output as { text: string }).text)
      .toSorted()
      .join(' '),
  }
})
const flow = await boss.flow([
  { ref: 'head', name: 'part', data: { text: 'Dear' } },
  { ref: 'body', name: 'part', data: { text: 'Reader' } },
  { ref: 'letter', name: 'letter', dependsOn: ['head', 'body'] },
])
console.log(`letter: ${((await ended('letter', flow['letter'] ?? null)).output as { text: string }).text}`)

// A schedule.
await boss.schedule('report', '0 3 * * *', { of: 'yesterday' }, { tz: 'Europe/Berlin' })
const schedule = await boss.getSchedule('report')
console.log(`next report: ${boss.previewSchedule(schedule?.cron ?? '', { tz: schedule?.timezone ?? '', count: 1 })[0]?.toISOString()}`)

// A batch: one call for many jobs.
await boss.createQueue('count')
const counted = Promise.withResolvers<void>()
await boss.insert(
  'count',
  [1, 2, 3].map((number) => ({ data: { number } })),
)
await boss.work('count', { batchSize: 10, pollingIntervalSeconds: 0.5 }, async (jobs: Job<{ number: number }>[]) => {
  console.log(`counted to ${jobs.reduce((sum, { data }) => sum + data.number, 0)} in one call`)
  counted.resolve()
})
await counted.promise

// The end: running jobs finish, the others stay in the database.
await boss.createQueue('print')
await boss.work('print', { pollingIntervalSeconds: 0.5 }, async () => {
  console.log('printing')
  await setTimeout(500)
  console.log('printed')
})
process.once('SIGTERM', () => boss.stop({ timeout: 10_000 }))
await boss.insert('print', [{ data: {} }, { data: {} }])
