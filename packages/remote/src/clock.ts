/** Where time and chance enter: the one file that reads them. */
import { randomUUID } from 'node:crypto'
import type { Clock, Random } from '@millrace/core'
import { systemClock } from '@millrace/worker'

/** What tests replace. */
export interface Surroundings {
  readonly clock: Clock
  readonly random: Random
}

/** Its timers keep no process alive: sockets do, and `keepAlive` where there is none. */
const quietClock: Clock = {
  read: systemClock.read,
  setTimer(ms, wake) {
    const timer = setTimeout(wake, ms).unref()
    return () => clearTimeout(timer)
  },
}

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
