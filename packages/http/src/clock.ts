/** Where time and chance enter: the one file that reads them. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '@millrace/core'
import { systemClock } from '@millrace/worker'

/** What tests replace. */
export interface Surroundings {
  readonly clock: Clock
  /** Names an error that is told without its reason. */
  newId(): string
  /** So many random bytes. */
  newSecret(bytes: number): Uint8Array
}

/** Its timers keep no process alive: the server that this is mounted in does. */
const quietClock: Clock = {
  read: systemClock.read,
  setTimer(ms, wake) {
    const timer = setTimeout(wake, ms).unref()
    return () => clearTimeout(timer)
  },
}

export const SYSTEM: Surroundings = { clock: quietClock, newId: () => randomUUID(), newSecret: (bytes) => randomBytes(bytes) }

/** When everything that is due by now has had the thread. */
export function soon(wake: () => void): void {
  setImmediate(wake)
}
