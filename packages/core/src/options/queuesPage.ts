/** The options of `queues.page` and `queues.keys`. */
import { LIMITS } from '../limits.ts'
import { nameOption } from './name.ts'
import { integerBetween, optionsReader } from './read.ts'

export interface QueuesPageOptions {
  /** The name of the last queue of the page before. */
  readonly after?: string
  /** 1 to 500, default 500. */
  readonly limit?: number
}

export interface QueuesPage {
  readonly after?: string
  readonly limit: number
}

const readPage = optionsReader('queues.page', { after: nameOption, limit: integerBetween(1, LIMITS.pageQueues) })

/** @throws OptionTypeError, OptionRangeError */
export function validateQueuesPageOptions(options: unknown = {}): QueuesPage {
  return { limit: LIMITS.pageQueues, ...readPage(options) }
}

/** The options of `queues.keys`. */
export interface QueueKeysOptions {
  /** Keys in the answer: 1 to 200, default 50. */
  readonly limit?: number
}

const KEYS = 50

const readKeys = optionsReader('queues.keys', { limit: integerBetween(1, LIMITS.pageKeys) })

/** @throws OptionTypeError, OptionRangeError */
export function validateQueueKeysOptions(options: unknown = {}): { readonly limit: number } {
  return { limit: KEYS, ...readKeys(options) }
}
