/** The changes to a queue: a map, checked against the same rules as the options of `queues.configure`. */
import { isErrorOf, type Keep, type QueueChanges, refusalFrom, validateQueueOptions } from '@millrace/core'
import { writeValue } from '../msgpack/value.ts'
import type { Kind } from './kinds.ts'

export const QUEUE_CHANGES: Kind<QueueChanges> = {
  says: 'map of settings, times in milliseconds; nil takes one away',
  write: (out, { retention, ...changes }) =>
    writeValue(out, { ...changes, ...(retention !== undefined && { retention: ages(retention) }) }),
  read: (from) => {
    const value = from.value()
    try {
      return validateQueueOptions(value)
    } catch (error) {
      if (isErrorOf(error, 'OptionTypeError') || isErrorOf(error, 'OptionRangeError')) throw from.refused(refusalFrom(error))
      throw error
    }
  },
}

/** Returns the retention in the form of the options. */
function ages(retention: NonNullable<QueueChanges['retention']> | null): unknown {
  return (
    retention &&
    Object.fromEntries(Object.entries(retention).map(([state, { ageMs, count }]: [string, Keep]) => [state, { age: ageMs, count }]))
  )
}
