/** Limits the wait for a reply that may take long. */
import type { Clock, StopSignal } from '@millrace/core'

export interface Patience {
  readonly clock: Clock
  /** The monotonic time at which the wait ends; Infinity for never. */
  readonly until: number
  readonly signal?: StopSignal | undefined
  /** Returns the error that the call rejects with when its time is over. */
  readonly late: () => Error
}

/** Resolves to `reply`. If the time ends or the signal aborts first, calls `forget` and rejects. */
export function inTime<Reply>(reply: Promise<Reply>, { clock, until, signal, late }: Patience, forget: () => void): Promise<Reply> {
  const leftMs = until - clock.read().mono
  if (leftMs === Number.POSITIVE_INFINITY && signal === undefined) return reply
  return new Promise<Reply>((resolve, reject) => {
    const giveUp = (error: unknown) => {
      forget()
      done()
      reject(error)
    }
    const onAbort = () => giveUp(signal?.reason)
    const cancelTimer = leftMs === Number.POSITIVE_INFINITY ? undefined : clock.setTimer(Math.max(0, leftMs), () => giveUp(late()))
    const done = () => {
      cancelTimer?.()
      signal?.removeEventListener('abort', onAbort)
    }
    signal?.addEventListener('abort', onAbort)
    reply.finally(done).then(resolve, reject)
  })
}
