/** The options of `redrive`. */
import { nameOption } from './name.ts'
import { integerBetween, optionsReader } from './read.ts'

/** The options of `redrive`. */
export interface RedriveOptions {
  /** Only jobs of this queue. Default: all queues. */
  readonly queue?: string
  /** Only jobs of this name. Default: all names. */
  readonly name?: string
  /** At most so many jobs; default all of them. */
  readonly limit?: number
}

export interface RedriveSettings {
  readonly queue?: string
  readonly name?: string
  readonly limit: number
}

const read = optionsReader('redrive', { queue: nameOption, name: nameOption, limit: integerBetween(1, Number.MAX_SAFE_INTEGER) })

/** @throws OptionTypeError, OptionRangeError */
export function validateRedriveOptions(options: unknown = {}): RedriveSettings {
  return { limit: Number.POSITIVE_INFINITY, ...read(options) }
}
