/** Where chance enters the engine; time is the worker package's clock, and the calendar the client's. */
import type { Random } from '@millrace/core'

export { systemCalendar } from '@millrace/client/calendar'
export { quietClock, systemClock } from '@millrace/worker/clock'

export const systemRandom: Random = Math.random
