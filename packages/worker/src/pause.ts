/** A pause that may be ended early. */
import type { Clock } from '@millrace/core'

export interface Pause {
  /** Resolves when the pause is over, after `then` has been called. */
  readonly over: Promise<void>
  readonly end: () => void
}

export function pause(clock: Clock, ms: number, then: () => void): Pause {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = () => {
    cancel()
    then()
    resolve()
  }
  const cancel = clock.setTimer(ms, end)
  return { over: promise, end }
}
