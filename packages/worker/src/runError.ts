/** What is stored of an error. */
import { LIMITS, type RunError } from '@millrace/core'

/** Never throws, whatever was thrown: an object without a prototype, an error whose fields are getters that throw. */
export function runErrorOf(error: unknown): RunError {
  try {
    if (!(error instanceof Error)) return { name: 'Error', message: cut(textOf(error), LIMITS.errorMessageLength) }
    const { name, message, stack } = error
    return {
      name: cut(typeof name === 'string' && name !== '' ? name : 'Error', 128),
      message: cut(textOf(message), LIMITS.errorMessageLength),
      ...(typeof stack === 'string' && { stack: cut(stack, LIMITS.errorStackLength) }),
    }
  } catch {
    return { name: 'Error', message: 'the handler has thrown something that cannot be read' }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? (JSON.stringify(value) ?? 'an object') : String(value)
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}
