/** The only file that reads the time and random numbers. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Clock } from '@millrace/core'
import { systemClock } from '@millrace/worker'

/** The dependencies that tests replace. */
export interface Surroundings {
  readonly clock: Clock
  /** Returns an id for an error that is shown without its reason. */
  newId(): string
  /** Returns this many random bytes. */
  newSecret(bytes: number): Uint8Array
}

/** The system's clock, with timers that keep no process alive: the server that mounts the API does that. */
const quietClock: Clock = {
  read: systemClock.read,
  setTimer(ms, wake) {
    const timer = setTimeout(wake, ms).unref()
    return () => clearTimeout(timer)
  },
}

export const SYSTEM: Surroundings = { clock: quietClock, newId: () => randomUUID(), newSecret: (bytes) => randomBytes(bytes) }

/** Calls `wake` after everything that is due by now has had the thread. */
export function soon(wake: () => void): void {
  setImmediate(wake)
}
