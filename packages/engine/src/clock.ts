/** Where chance enters the engine; time is the worker package's clock. */
import type { Random } from '@millrace/core'

export { systemClock } from '@millrace/worker'

export const systemRandom: Random = Math.random
