/** The options of `queues.page`. */
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

const read = optionsReader('queues.page', { after: nameOption, limit: integerBetween(1, LIMITS.pageQueues) })

/** @throws OptionTypeError, OptionRangeError */
export function validateQueuesPageOptions(options: unknown = {}): QueuesPage {
  return { limit: LIMITS.pageQueues, ...read(options) }
}
