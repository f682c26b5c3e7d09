/** Waiting that has an end. */
import type { Clock } from '@millrace/core'

/** What is promised, or undefined after `ms` without it. */
export function within<Value>(clock: Clock, ms: number, promised: Promise<Value>): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(ms, () => resolve(undefined))
    promised.finally(cancel).then(resolve, reject)
  })
}
