/** Two times that can run out: that of an attempt, which is tried again, and that before the first start, after which the job fails. */
import { defineJob, JobFailedError, openEngine } from '@millrace/engine'

const call = defineJob<{ to: string }>({
  name: 'call',
  maxAttempts: 3,
  timeout: '1s',
  heartbeatTimeout: 0,
  backoff: { type: 'fixed', delay: '10ms' },
})
const remind = defineJob<{ of: string }>({ name: 'remind' })

await using engine = await openEngine({ file: ':memory:' })
engine.work([
  call.handler(async ({ data, job, signal }) => {
    // Nobody answers the first time: the handler hears of its deadline by the signal.
    if (job.attempt === 1) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    return `${data.to} answered at attempt ${job.attempt}`
  }),
])

const answered = await engine.enqueue(call, { to: 'Ada' })
console.log(await answered.result({ timeout: '30s' }))
const { attempts = [] } = (await engine.get(answered.id)) ?? {}
console.log(`attempt 1 ended with ${attempts[0]?.error?.name}`)

// Nobody serves it in time.
const late = await engine.enqueue(remind, { of: 'the meeting' }, { ttl: '20ms' })
const error = await late.result({ timeout: '30s' }).catch((thrown: unknown) => thrown)
if (!(error instanceof JobFailedError)) throw error
console.log(`the reminder failed with ${(error.cause as Error).name}`)

// Brought back by hand it has no such time any more.
await engine.retry(late.id)
engine.work([remind.handler(({ data }) => `reminded of ${data.of}`)])
console.log(await late.result({ timeout: '30s' }))
