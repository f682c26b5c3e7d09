/** A reply that may be long in coming, and how long its caller waits for it. */
import type { Clock, StopSignal } from '@millrace/core'

export interface Patience {
  readonly clock: Clock
  /** Monotonic; Infinity for ever. */
  readonly until: number
  readonly signal?: StopSignal | undefined
  /** What the call rejects with when its time is over. */
  readonly late: () => Error
}

/** `reply`, unless time or the caller's patience ends first: then `forget` is called. */
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
