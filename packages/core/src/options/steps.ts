/** The options of `engine.steps`. */
import { LIMITS } from '../limits.ts'
import type { StepsCommand } from '../stepCommands.ts'
import { integerBetween, optionsReader } from './read.ts'

/** The options of `steps`. */
export interface StepsOptions {
  /** `next` of the page before: 0 or more. Default: the first page. */
  readonly after?: number
  /** Results in the page: 1 to 1,000, default 100. A page is shorter if its results have more than 4 MiB together. */
  readonly limit?: number
}

const read = optionsReader('steps', {
  after: integerBetween(0, Number.MAX_SAFE_INTEGER),
  limit: integerBetween(1, LIMITS.pageSteps),
})

/** @throws OptionTypeError, OptionRangeError */
export function validateStepsOptions(options: unknown = {}): Omit<StepsCommand, 'op' | 'id'> {
  const { after = 0, limit = 100 } = read(options)
  return { after, limit }
}
