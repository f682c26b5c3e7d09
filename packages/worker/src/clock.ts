/** The worker's clock: the one file that reads the time. */

import { randomUUID } from 'node:crypto'
import type { Clock } from '@millrace/core'

/** The longest delay of a Node timer, in milliseconds: longer ones would fire at once. */
const TIMER_MAX_MS = 2 ** 31 - 1

/** Node's own function, even if a test has installed fake timers by the time it is used: calls would never leave. */
const { setImmediate: soon } = globalThis

export const systemClock: Clock = clock((timer) => timer)

/** A clock whose timers do not keep the process alive, for work that a process can end without. */
export const quietClock: Clock = clock((timer) => timer.unref())

function clock(held: (timer: NodeJS.Timeout) => NodeJS.Timeout): Clock {
  return {
    read: () => ({ wall: Date.now(), mono: performance.now() }),
    setTimer(ms, wake) {
      let left = ms
      let timer: NodeJS.Timeout
      const arm = () => {
        const slice = Math.min(left, TIMER_MAX_MS)
        left -= slice
        timer = held(setTimeout(left > 0 ? arm : wake, slice))
      }
      arm()
      return () => clearTimeout(timer)
    },
    afterTurn: (work) => void soon(work),
  }
}

/** Returns a name for a session: never a host name or a pid. */
export function newSessionId(): string {
  return randomUUID()
}
