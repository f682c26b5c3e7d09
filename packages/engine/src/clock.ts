/** The engine's source of randomness, with the worker package's clock and the client package's calendar. */
import type { Random } from '@millrace/core'

export { systemCalendar } from '@millrace/client/calendar'
export { ownClock, quietClock, systemClock } from '@millrace/worker/clock'

export const systemRandom: Random = Math.random
