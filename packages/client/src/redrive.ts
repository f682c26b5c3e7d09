/** `redrive` works slice by slice, so that no turn is long. */
import { type FailedPlace, LIMITS, type Redriven, type RedriveOptions, validateRedriveOptions } from '@millrace/core'
import type { Mailbox } from './mailbox.ts'

export async function runRedrive(calls: Pick<Mailbox, 'call'>, options: RedriveOptions | undefined): Promise<{ readonly count: number }> {
  const { limit: most, ...filter } = validateRedriveOptions(options)
  let limit = most
  let count = 0
  let after: FailedPlace | null = null
  do {
    const slice = Math.min(limit - count, LIMITS.sliceRows)
    const done: Redriven = await calls.call<'redrive'>({ op: 'redrive', ...filter, limit: slice, ...(after !== null && { after }) })
    // Jobs that fail again meanwhile come last. If they were retried too, this might never end.
    if (after === null) limit = Math.min(limit, done.failed)
    count += done.count
    after = done.next
  } while (after !== null && count < limit)
  return { count }
}
