/** The only file of this package that reads the time and random numbers. */
import { randomUUID } from 'node:crypto'
import type { Clock, Random } from '@millrace/core'
import { quietClock } from '@millrace/worker'

/** The clock and the random numbers, which tests replace. */
export interface Surroundings {
  readonly clock: Clock
  readonly random: Random
}

/** Sockets keep the process alive, and `keepAlive` does while there is none. */
export const SYSTEM: Surroundings = { clock: quietClock, random: Math.random }

/** Returns a new name for a producer's journal. */
export function newSourceId(): string {
  return randomUUID()
}

/** Keeps the process alive until the returned function is called. */
export function keepAlive(): () => void {
  const timer = setInterval(() => {}, 2 ** 30)
  return () => clearInterval(timer)
}
