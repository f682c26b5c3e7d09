/** The engine's source of randomness, with the worker package's clock and the client package's calendar. */
import { randomBytes } from 'node:crypto'
import type { Random } from '@millrace/core'

export { systemCalendar } from '@millrace/client/calendar'
export { ownClock, quietClock, systemClock } from '@millrace/worker/clock'

export const systemRandom: Random = Math.random

/** Returns milliseconds on a monotonic clock that all threads of this process share. That of `systemClock` begins with its thread. */
export function sharedMono(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** Returns a new key of 32 bytes. */
export function newSecret(): Buffer {
  return randomBytes(32)
}
