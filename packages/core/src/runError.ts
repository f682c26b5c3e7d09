/** A handler's error as it is stored, and the error made from it, which programs read like their own. */

/** One link of the chain of causes of an error. Lengths are in UTF-16 units; longer texts are cut. */
export interface RunCause {
  /** The name of its class; at most 128. `Error` if it is no error. */
  readonly name: string
  /** Its message; at most 1,000. */
  readonly message: string
  /** Its own code; at most 128. */
  readonly code?: string
}

/** The error that a run ended with, as it is stored. Lengths are in UTF-16 units; longer texts are cut. */
export interface RunError {
  /** The name of its class; at most 128. */
  readonly name: string
  /** Its message; at most 4,096. */
  readonly message: string
  /** The stack, with code and causes at the end. At most 16,384 characters, less the room that `code` and `cause` take. */
  readonly stack?: string
  /** Its `code`, such as `ECONNREFUSED`; a number as a string. At most 128. */
  readonly code?: string
  /** The chain of its causes, the nearest first: at most 5. Absent if it has none. */
  readonly cause?: readonly RunCause[]
}

/** The error that a handler threw, made from what was stored. It has the name of its class, but is an instance of `Error` alone. */
export interface HandlerError extends Error {
  /** The code that it had, such as `ECONNREFUSED`; a number as a string. */
  readonly code?: string
  /** The chain of causes, each with its code: at most 5. */
  readonly cause?: HandlerError
}

export function handlerErrorOf({ cause = [], ...error }: RunError): HandlerError {
  // No stack of a cause is stored: that of the place where it is made would mislead.
  const causes = cause.reduceRight<HandlerError | undefined>((inner, each) => made({ ...each, stack: headOf(each) }, inner), undefined)
  return made(error, causes)
}

function made({ name, message, stack, code }: Omit<RunError, 'cause'>, cause: HandlerError | undefined): HandlerError {
  const error = new Error(message, cause && { cause })
  error.name = name
  if (stack !== undefined) error.stack = stack
  return Object.assign(error, code !== undefined && { code }) as HandlerError
}

function headOf({ name, message }: RunCause): string {
  return message === '' ? name : `${name}: ${message}`
}
