/** A mail service of tinybus on Millrace, on Postgres: `DATABASE_URL=postgres://... node after.ts`. */
import { defineJob, openEngine } from '@millrace/engine'

const engine = await openEngine({
  postgres: process.env['DATABASE_URL'] ?? '',
  schema: process.env['SCHEMA'] ?? 'millrace',
  logger: false,
  defaults: { maxAttempts: 5, backoff: { type: 'exponential', delay: '1s', maxDelay: '5m', jitter: 'equal' } },
})

const email = defineJob<{ to: string }>({ name: 'email', queue: 'email' })
engine.work(
  email.handler(({ data, job }) => {
    if (data.to === 'flaky' && job.attempt === 1) throw new Error('try again')
    if (data.to === 'nobody') throw new Error('no such address')
    console.log(`sent to ${data.to} at attempt ${job.attempt}`)
  }),
  { queues: ['email'], concurrency: 4 },
)

const soon = await engine.enqueue(email, { to: 'ada' }, { delay: '200ms', maxAttempts: 10 })
await soon.result()
const flaky = await engine.enqueue(email, { to: 'flaky' })
await flaky.result()
const dead = await engine.enqueue(email, { to: 'nobody' }, { maxAttempts: 1 })
await dead.result().catch((error: Error) => console.log(`dead: ${(error.cause as Error).message}`))

const { states } = await engine.stats()
console.log(`ready: ${states.waiting}, delayed: ${states.scheduled}, in flight: ${states.active}, dead: ${states.failed}`)
await engine.stop()
