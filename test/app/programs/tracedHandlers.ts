/** Handlers under trace: on this thread, in a batch, on another thread. Each but the last answers the trace that it is within. */
import { defineJob } from '@millrace/worker'
import { trace } from '@opentelemetry/api'

export const traced = defineJob<{ readonly fail?: true }>({ name: 'traced', maxAttempts: 1 }).handler(({ data }) => {
  if (data?.fail) throw new RangeError('no such luck')
  return trace.getActiveSpan()?.spanContext() ?? null
})

export const together = defineJob({ name: 'together', maxAttempts: 1 }).handler(
  (items) => items.map((_, index) => (index === 0 ? { output: 'first' } : { error: new TypeError('not the first') })),
  { batch: { size: 2 } },
)

export const elsewhere = defineJob({ name: 'elsewhere' }).thread(new URL('./tracedModule.ts', import.meta.url))
