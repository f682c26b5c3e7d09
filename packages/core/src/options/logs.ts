/** The options of `engine.logs`. */
import type { LogsCommand } from '../commands.ts'
import { LIMITS } from '../limits.ts'
import { choiceOf, integerBetween, optionsReader } from './read.ts'

const LOGS_ORDERS = ['oldest', 'newest'] as const

/** The options of `logs`. */
export interface LogsOptions {
  /** The run whose lines are read: 1 or more. Default: the last run. */
  readonly run?: number
  /** `next` of the page before: 0 or more. Default: the first page. */
  readonly after?: number
  /** Lines in the page: 1 to 1,000, default 100. A page is shorter if its lines have more than 1 MiB together. */
  readonly limit?: number
  /** The order of the lines. Default 'oldest': the oldest first. */
  readonly order?: 'oldest' | 'newest'
}

const PAGE_LINES = 100
const whole = integerBetween(0, Number.MAX_SAFE_INTEGER)
const read = optionsReader('logs', {
  run: integerBetween(1, Number.MAX_SAFE_INTEGER),
  after: whole,
  limit: integerBetween(1, LIMITS.pageLogs),
  order: choiceOf(LOGS_ORDERS),
})

/** @throws OptionTypeError, OptionRangeError */
export function validateLogsOptions(options: unknown = {}): Omit<LogsCommand, 'op' | 'id'> {
  const { order, limit = PAGE_LINES, ...place } = read(options)
  return { ...place, limit, ...(order === 'newest' && { newest: true }) }
}
