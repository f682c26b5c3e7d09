/** The options of `queues.keys`. */
import { LIMITS } from '../limits.ts'
import { integerBetween, optionsReader } from './read.ts'

/** The options of `queues.keys`. */
export interface QueueKeysOptions {
  /** Keys in the answer: 1 to 200, default 50. */
  readonly limit?: number
}

const KEYS = 50

const read = optionsReader('queues.keys', { limit: integerBetween(1, LIMITS.pageKeys) })

/** @throws OptionTypeError, OptionRangeError */
export function validateQueueKeysOptions(options: unknown = {}): { readonly limit: number } {
  return { limit: KEYS, ...read(options) }
}
