/** Where chance enters the engine; time is the worker package's clock, and the calendar the client's. */
import type { Clock, Random } from '@millrace/core'
import { systemClock } from '@millrace/worker'

export { systemCalendar } from '@millrace/client'
export { systemClock }

/** Its timers keep no process alive. */
export const quietClock: Clock = {
  read: systemClock.read,
  setTimer(ms, wake) {
    const timer = setTimeout(wake, ms).unref()
    return () => clearTimeout(timer)
  },
}

export const systemRandom: Random = Math.random
