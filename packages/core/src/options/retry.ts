/** The options of `retry`. */
import { OptionTypeError } from '../errors.ts'
import { booleanOption } from './choice.ts'
import { checkKnown } from './known.ts'
import { textOption } from './text.ts'

/** The option that `cancel` and `retry` share. */
export interface TreeOptions {
  /** Also all jobs of its flow that wait for this one, however far down; default false. */
  readonly descendants?: boolean
}

/** The options of `retry`. */
export interface RetryOptions extends TreeOptions {
  /**
   * The name of the step at which the job resumes: its result is forgotten, and all that was asked for after it. `'start'`: all results,
   * and the keys of the steps change. Default: the first step that has failed. Not with `descendants`.
   */
  readonly from?: string
}

const KNOWN = new Set(['descendants', 'from'])

/** @throws OptionTypeError, OptionRangeError */
export function validateRetryOptions(options: unknown = {}): { readonly descendants: boolean; readonly from?: string } {
  checkKnown('retry', options, KNOWN)
  const descendants = booleanOption('descendants', options['descendants'] ?? false)
  if (options['from'] === undefined) return { descendants }
  if (descendants) throw new OptionTypeError('from', 'from names a step of this job, and descendants are others: give one of them')
  return { descendants, from: textOption('from', options['from']) }
}
