/** Errors of handlers, made from what is stored of them: so that programs read them like errors of their own. */
import type { RunCause, RunError } from './commands.ts'

/** The error that a handler threw, made from what was stored. It has the name of its class, but is an instance of `Error` alone. */
export interface HandlerError extends Error {
  /** The code that it had, such as `ECONNREFUSED`; a number as a string. */
  readonly code?: string
  /** What caused it, with the code and cause of its own: a chain of at most 5. */
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
