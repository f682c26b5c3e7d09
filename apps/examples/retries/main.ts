/** What becomes of a job that throws: tried again with growing pauses, at a time that the other side names, or not at all. */
import { defineJob, JobFailedError, NonRetryableError, openEngine, RetryAfterError } from '@millrace/engine'

const fetchPage = defineJob<{ url: string }>({
  name: 'fetch',
  maxAttempts: 4,
  backoff: { type: 'exponential', delay: '20ms', factor: 2, maxDelay: '1s', jitter: 'full' },
})

/** A stand-in for the network. */
function respond(url: string, attempt: number): { status: number; retryAfterMs?: number } {
  if (url === '/gone') return { status: 404 }
  if (url === '/busy' && attempt === 1) return { status: 429, retryAfterMs: 30 }
  if (url === '/flaky' && attempt < 3) return { status: 500 }
  return { status: url === '/down' ? 500 : 200 }
}

await using engine = await openEngine({ file: ':memory:' })
engine.work(
  fetchPage.handler(({ data: { url }, job, log }) => {
    const { status, retryAfterMs } = respond(url, job.attempt)
    log('info', `${url} answered ${status}`)
    if (status === 404) throw new NonRetryableError(`${url} is not there`)
    if (retryAfterMs !== undefined) throw new RetryAfterError(retryAfterMs)
    if (status !== 200) throw new Error(`${url} answered ${status}`)
    return `${url} at attempt ${job.attempt}`
  }),
)

for (const url of ['/fine', '/flaky', '/busy', '/gone', '/down']) {
  const handle = await engine.enqueue(fetchPage, { url })
  try {
    console.log(await handle.result({ timeout: '30s' }))
  } catch (error) {
    if (!(error instanceof JobFailedError)) throw error
    const job = await engine.get(handle.id)
    console.log(`${url} failed after ${job?.attempts.length} of ${job?.maxAttempts}: ${(error.cause as Error).message}`)
  }
}

// Failed jobs are kept, with every run's error and log. When the trouble is over they are tried again.
const { count } = await engine.redrive({ name: 'fetch', limit: 100 })
console.log(`${count} tried once more`)
