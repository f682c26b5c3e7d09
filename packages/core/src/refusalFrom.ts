/** Errors as they cross a Port. */
import { isError, isErrorOf } from './errorKind.ts'
import { ERROR_CODES, type ErrorCode, type MillraceError, type Refusal } from './errors.ts'

/** Returns the refusal that stands for an error. An error of another kind becomes INTERNAL. */
export function refusalFrom(error: unknown): Refusal {
  if (isErrorOf(error, 'OptionRangeError')) {
    const { message, option, limit } = error
    return { code: error.code, message, details: { option, limit } }
  }
  if (isErrorOf(error, 'OptionTypeError')) return { code: error.code, message: error.message, details: { option: error.option } }
  if (isErrorOf(error, 'MillraceError') && ERROR_CODES.includes(error.code as ErrorCode)) {
    const { name: _name, code, retryable: _retryable, ...details } = error as MillraceError & Record<string, unknown>
    return { code: code as ErrorCode, message: error.message, details }
  }
  return { code: 'INTERNAL', message: isError(error) ? `${error.name}: ${error.message}` : String(error) }
}
