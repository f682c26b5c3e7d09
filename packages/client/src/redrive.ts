/** Failed jobs are retried a slice at a time. */
import { type FailedPlace, LIMITS, type Redriven, type RedriveOptions, validateRedriveOptions } from '@millrace/core'
import type { Mailbox } from './mailbox.ts'

export async function redrive(mailbox: Mailbox, options?: RedriveOptions): Promise<{ readonly count: number }> {
  const { limit: most, ...filter } = validateRedriveOptions(options)
  let limit = most
  let count = 0
  let after: FailedPlace | null = null
  do {
    const slice = Math.min(limit - count, LIMITS.sliceRows)
    const done: Redriven = await mailbox.call<'redrive'>({ op: 'redrive', ...filter, limit: slice, ...(after !== null && { after }) })
    // Those that fail again meanwhile come behind: were they taken too, it might never end.
    if (after === null) limit = Math.min(limit, done.failed)
    count += done.count
    after = done.next
  } while (after !== null && count < limit)
  return { count }
}
