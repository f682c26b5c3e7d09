/** Limits a wait. */
import type { Clock } from '@millrace/core'

/** Resolves to the promised value, or to undefined after `ms` milliseconds without it; Infinity sets no timer. */
export function within<Value>(clock: Clock, ms: number, promised: Promise<Value>): Promise<Value | undefined> {
  if (ms === Number.POSITIVE_INFINITY) return promised
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(ms, () => resolve(undefined))
    promised.finally(cancel).then(resolve, reject)
  })
}
