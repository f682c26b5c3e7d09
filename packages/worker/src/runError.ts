/** What is stored of an error. */
import { LIMITS, type RunError } from '@millrace/core'

export function runErrorOf(error: unknown): RunError {
  if (!(error instanceof Error)) return { name: 'Error', message: cut(String(error), LIMITS.errorMessageLength) }
  const stack = error.stack === undefined ? {} : { stack: cut(error.stack, LIMITS.errorStackLength) }
  return { name: cut(error.name, 128), message: cut(error.message, LIMITS.errorMessageLength), ...stack }
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}
