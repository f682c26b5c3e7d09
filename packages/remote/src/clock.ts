/** Where time and chance enter: the one file that reads them. */
import { randomUUID } from 'node:crypto'
import type { Clock, Random } from '@millrace/core'
import { quietClock } from '@millrace/worker'

/** What tests replace. */
export interface Surroundings {
  readonly clock: Clock
  readonly random: Random
}

/** Sockets keep the process alive, and `keepAlive` where there is none. */
export const SYSTEM: Surroundings = { clock: quietClock, random: Math.random }

/** Names a producer's journal. */
export function newSourceId(): string {
  return randomUUID()
}

/** Keeps the process alive until the function that it answers is called. */
export function keepAlive(): () => void {
  const timer = setInterval(() => {}, 2 ** 30)
  return () => clearInterval(timer)
}
