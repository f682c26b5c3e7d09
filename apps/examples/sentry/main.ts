/** Failed runs in Sentry, each within the trace of what enqueued its job. Set SENTRY_DSN, and see both attempts of gone.png there. */
import { defineJob, type Middleware, NonRetryableError, openEngine } from '@millrace/engine'
import { traceEnqueues, traceRun } from '@millrace/otel'
import * as Sentry from '@sentry/node'

Sentry.init({ dsn: process.env['SENTRY_DSN'], tracesSampleRate: 1, enableOpenTelemetrySetup: true })

/** Ends of a run that are no failure. */
const EXPECTED = new Set(['SnoozeSignal', 'JoinSignal', 'WaitSignal', 'CancelJobError', 'JobCancelledError', 'WorkerStoppedError'])

const reporting: Middleware = {
  // Without @millrace/otel, call next() in place of traceRun(next)(context).
  run: (context, next) =>
    Sentry.withIsolationScope((scope) => {
      const { id, name, queue, attempt, maxAttempts } = context.job
      scope.setTags({ 'job.name': name, 'job.queue': queue }).setContext('job', { id, attempt, maxAttempts })
      const run = async () => {
        try {
          return await next()
        } catch (error) {
          const final = attempt >= maxAttempts || error instanceof NonRetryableError
          const level = final ? 'error' : 'warning'
          const fingerprint = ['{{ default }}', level]
          if (error instanceof Error && !EXPECTED.has(error.name)) Sentry.captureException(error, { level, fingerprint })
          throw error
        }
      }
      return traceRun(run)(context)
    }),
}

const resize = defineJob<{ path: string }>({ name: 'resize', maxAttempts: 2, backoff: { type: 'fixed', delay: 10 } })
const engine = await openEngine({ file: ':memory:', logger: null })
engine.use(reporting)

engine.work(
  resize.handler(({ data, job, snooze, discard }) => {
    if (data.path === 'late.png' && job.run === 1) snooze(10)
    if (data.path === 'gone.png') throw new Error(`${data.path} is not there`)
    if (data.path === 'notes.txt') discard(`${data.path} is no picture`)
    return `${data.path} is small`
  }),
)

const producer = traceEnqueues(engine)
await Sentry.startSpan({ name: 'POST /pictures' }, async () => {
  const late = await producer.enqueue(resize, { path: 'late.png' })
  console.log(await late.result())
  const gone = await producer.enqueue(resize, { path: 'gone.png' })
  await gone.result().catch((error: Error) => console.log(error.message))
  const notes = await producer.enqueue(resize, { path: 'notes.txt' })
  await notes.result().catch((error: Error) => console.log(error.message))
})

await engine.stop()
await Sentry.close()
