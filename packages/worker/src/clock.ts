/** The worker's clock: the one file that reads the time. */

import { randomUUID } from 'node:crypto'
import type { Clock } from '@millrace/core'
import { apart } from './apart.ts'

/** The longest delay of a Node timer, in milliseconds: longer ones would fire at once. */
const TIMER_MAX_MS = 2 ** 31 - 1

/** Node's own functions, even if a test has installed fake timers by the time they are used: calls would never leave. */
const { setImmediate: soon, setTimeout: later, clearTimeout: forget } = globalThis
const now = performance.now.bind(performance)

export const systemClock: Clock = clock((timer) => timer)

/** A clock whose timers do not keep the process alive, for work that a process can end without. */
export const quietClock: Clock = clock((timer) => timer.unref())

/** A quiet clock that fake timers do not reach: it drives what never ends, and a test that runs all its timers would not return. */
export const ownClock: Pick<Clock, 'read' | 'setTimer'> = {
  read: () => ({ wall: Date.now(), mono: now() }),
  setTimer(ms, wake) {
    const timer = apart(later, wake, ms).unref()
    return () => forget(timer)
  },
}

function clock(held: (timer: NodeJS.Timeout) => NodeJS.Timeout): Clock {
  return {
    read: () => ({ wall: Date.now(), mono: performance.now() }),
    setTimer(ms, wake) {
      let left = ms
      let timer: NodeJS.Timeout
      const arm = () => {
        const slice = Math.min(left, TIMER_MAX_MS)
        left -= slice
        timer = held(apart(setTimeout, left > 0 ? arm : wake, slice))
      }
      arm()
      return () => clearTimeout(timer)
    },
    afterTurn: (work) => void apart(soon, work),
  }
}

/** Returns a name for a session: never a host name or a pid. */
export function newSessionId(): string {
  return randomUUID()
}
