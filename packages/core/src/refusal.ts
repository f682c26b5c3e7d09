/** Errors as they cross a Port. */
import { isError, isErrorOf } from './errorKind.ts'
import * as ERRORS from './errors.ts'

type Coded = Extract<(typeof ERRORS)[keyof typeof ERRORS], { readonly code: string }>

/** The codes of the catalogue. Those of misuse are found at the border, or by a server for a client that does not check its options. */
export type ErrorCode = Coded['code']

/** An error as it crosses a Port: `code` leads back to its class. */
export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
  /** Further public fields of the error, plain values. */
  readonly details?: Readonly<Record<string, unknown>>
}

type DefinedClass = Exclude<Coded, typeof ERRORS.OptionTypeError | typeof ERRORS.OptionRangeError>

const CLASSES: ReadonlyMap<ErrorCode, Coded> = new Map(
  Object.values<object>(ERRORS)
    .filter((value): value is Coded => 'code' in value)
    .map((each) => [each.code as ErrorCode, each]),
)

export const ERROR_CODES: readonly ErrorCode[] = [...CLASSES.keys()].toSorted()

/** The error that a refusal stands for. */
export function errorFrom(
  { code, message, details }: Refusal,
  options?: ErrorOptions,
): ERRORS.MillraceError | ERRORS.OptionTypeError | ERRORS.OptionRangeError {
  if (code === 'OPTION_TYPE') return new ERRORS.OptionTypeError(String(details?.['option']), message)
  if (code === 'OPTION_RANGE')
    return new ERRORS.OptionRangeError(String(details?.['option']), details?.['limit'] as number | string, message)
  // A newer peer may know more codes.
  const known = (CLASSES.get(code) ?? ERRORS.InternalError) as DefinedClass
  return new known(message, details, options)
}

/** Returns the refusal that stands for an error. An error of another kind becomes INTERNAL. */
export function refusalFrom(error: unknown): Refusal {
  if (isErrorOf(error, 'OptionRangeError')) {
    const { message, option, limit } = error
    return { code: error.code, message, details: { option, limit } }
  }
  if (isErrorOf(error, 'OptionTypeError')) return { code: error.code, message: error.message, details: { option: error.option } }
  if (isErrorOf(error, 'MillraceError') && CLASSES.has(error.code as ErrorCode)) {
    const { name: _name, code, retryable: _retryable, ...details } = error as ERRORS.MillraceError & Record<string, unknown>
    return { code: code as ErrorCode, message: error.message, details }
  }
  return { code: 'INTERNAL', message: isError(error) ? `${error.name}: ${error.message}` : String(error) }
}
