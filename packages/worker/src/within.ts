/** Waiting that has an end. */
import type { Clock } from '@millrace/core'

/** What is promised, or undefined after `ms` without it; Infinity sets no timer. */
export function within<Value>(clock: Clock, ms: number, promised: Promise<Value>): Promise<Value | undefined> {
  if (ms === Number.POSITIVE_INFINITY) return promised
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(ms, () => resolve(undefined))
    promised.finally(cancel).then(resolve, reject)
  })
}
