/** Where time enters the worker: the one file that reads it. */

import { randomUUID } from 'node:crypto'
import type { Clock } from '@millrace/core'

/** The longest that one of Node's timers can hold: longer ones would fire at once. */
const TIMER_MAX_MS = 2 ** 31 - 1

/** Node's own, whatever fake timers a test has put in its place by the time it is used: calls would never leave. */
const { setImmediate: soon } = globalThis

export const systemClock: Clock = clock((timer) => timer)

/** Its timers keep no process alive: for what a process can end without. */
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

/** Names a session: never a host name or a pid. */
export function newSessionId(): string {
  return randomUUID()
}
