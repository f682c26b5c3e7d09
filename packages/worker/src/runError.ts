/** What is stored of an error. */
import { LIMITS, type RunError } from '@millrace/core'

const CAUSES_MAX = 5
const ERRORS_MAX = 10
/** Of the stack of a cause: where it was thrown is in its first lines. */
const CAUSE_LENGTH = 1_000
const CODE_LENGTH = 128

/** Never throws, whatever was thrown: an object without a prototype, an error whose fields are getters that throw. */
export function runErrorOf(error: unknown): RunError {
  try {
    if (!(error instanceof Error)) return { name: 'Error', message: cut(textOf(error), LIMITS.errorMessageLength) }
    const { name, message, stack } = error
    return {
      name: cut(typeof name === 'string' && name !== '' ? name : 'Error', 128),
      message: cut(textOf(message), LIMITS.errorMessageLength),
      ...(typeof stack === 'string' && { stack: withDetails(stack, detailsOf(error)) }),
    }
  } catch {
    return { name: 'Error', message: 'the handler has thrown something that cannot be read' }
  }
}

/** The details come whole: they are short, and the end of a long stack says least. */
function withDetails(stack: string, details: readonly string[]): string {
  if (details.length === 0) return cut(stack, LIMITS.errorStackLength)
  const rest = cutWord(details.map((line) => `\n${line}`).join(''), LIMITS.errorStackLength / 2)
  return cutWord(stack, LIMITS.errorStackLength - rest.length) + rest
}

/** What an error has beside its stack, as Node shows it: `code`, the chain of `cause`, and the `errors` of an AggregateError. */
function detailsOf(error: Error): string[] {
  try {
    return [...codeOf(error), ...errorsOf(error), ...causesOf(error)]
  } catch {
    return []
  }
}

function codeOf({ code }: Error & { readonly code?: unknown }): string[] {
  return typeof code === 'string' || typeof code === 'number' ? [`[code]: ${cut(String(code), CODE_LENGTH)}`] : []
}

function errorsOf(error: Error): string[] {
  if (!(error instanceof AggregateError)) return []
  const shown = error.errors.slice(0, ERRORS_MAX).map((each, index) => `[errors][${index}]: ${shortOf(each)}`)
  const left = error.errors.length - shown.length
  return left > 0 ? [...shown, `[errors]: ${left} more`] : shown
}

function causesOf(error: Error): string[] {
  const lines: string[] = []
  let { cause } = error
  for (let depth = 0; cause !== undefined && depth < CAUSES_MAX; depth++) {
    lines.push(`[cause]: ${shortOf(cause)}`)
    if (!(cause instanceof Error)) break
    lines.push(...codeOf(cause))
    cause = cause.cause
  }
  return lines
}

function shortOf(value: unknown): string {
  const text = value instanceof Error ? (value.stack ?? `${value.name}: ${value.message}`) : textOf(value)
  return cutWord(text, CAUSE_LENGTH)
}

function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? (JSON.stringify(value) ?? 'an object') : String(value)
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}

/** Without its last word: half of it may be half of what `redact` would hide. */
function cutWord(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length - 1).replace(/\S*$/, '…')
}
