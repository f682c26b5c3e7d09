/** Errors after which another attempt would end the same way. */
import { isErrorOf } from '@millrace/core'

export function isHopeless(error: unknown): boolean {
  if (isErrorOf(error, 'ValidationError') || isErrorOf(error, 'NonRetryableError')) return true
  // Recorded results are the same in every run. Of a change only a test asks here: elsewhere it uses no attempt.
  if (isErrorOf(error, 'StepFailedError') || isErrorOf(error, 'StepsChangedError')) return true
  return (
    (isErrorOf(error, 'OptionTypeError') || isErrorOf(error, 'OptionRangeError')) &&
    ['data', 'output', 'step', 'sleep'].includes(error.option)
  )
}
