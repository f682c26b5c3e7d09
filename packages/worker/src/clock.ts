/** Where time enters the worker: the one file that reads it. */

import { randomUUID } from 'node:crypto'
import type { Clock } from '@millrace/core'

export const systemClock: Clock = {
  read: () => ({ wall: Date.now(), mono: performance.now() }),
  setTimer(ms, wake) {
    const timer = setTimeout(wake, ms)
    return () => clearTimeout(timer)
  },
}

/** Names a session: never a host name or a pid. */
export function newSessionId(): string {
  return randomUUID()
}
