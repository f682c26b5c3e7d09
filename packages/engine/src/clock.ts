/** Where time and chance enter the engine: the one file that reads them. */
import type { Clock, Random } from '@millrace/core'

export const systemClock: Clock = {
  read: () => ({ wall: Date.now(), mono: performance.now() }),
  setTimer(ms, wake) {
    const timer = setTimeout(wake, ms)
    return () => clearTimeout(timer)
  },
}

export const systemRandom: Random = Math.random
