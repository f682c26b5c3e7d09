/** Returns errors as they are stored. */
import { isError, isErrorOf, LIMITS, type RunCause, type RunError } from '@millrace/core'
import { shownJson } from './shownJson.ts'

const ERRORS_MAX = 10
/** How deep errors in errors are shown. */
const HELD_DEPTH = 2
/** The maximum length of a cause's stack: its first lines show where it was thrown. */
const CAUSE_STACK_LENGTH = 1_000

/** Returns an error as it is stored. Never throws, even for an object without a prototype, or an error with getters that throw. */
export function runErrorOf(error: unknown): RunError {
  try {
    if (!isError(error)) return { name: 'Error', message: cut(textOf(error), LIMITS.errorMessageLength) }
    const { stack } = error
    const facts = factsOf(error)
    return {
      name: nameOf(error),
      message: cut(textOf(error.message), LIMITS.errorMessageLength),
      ...(typeof stack === 'string' && { stack: withDetails(stack, detailsOf(error), LIMITS.errorStackLength - lengthOf(facts)) }),
      ...facts,
    }
  } catch {
    return { name: 'Error', message: 'the handler has thrown something that cannot be read' }
  }
}

type Facts = Pick<RunError, 'code' | 'cause'>

/** Returns the fields that programs read. A code or a cause that cannot be read hides nothing else. */
function factsOf(error: Error): Facts {
  const code = attempt(() => codeOf(error), undefined)
  const cause = attempt(() => chainOf(error), []).map((each) => attempt(() => causeOf(each), UNREADABLE))
  return { ...(code !== undefined && { code }), ...(cause.length > 0 && { cause }) }
}

const UNREADABLE: RunCause = { name: 'Error', message: 'the cause cannot be read' }
const UNREADABLE_TEXT = 'it cannot be read'

function causeOf(cause: unknown): RunCause {
  if (!isError(cause)) return { name: 'Error', message: cut(textOf(cause), LIMITS.errorCauseLength) }
  const code = codeOf(cause)
  return { name: nameOf(cause), message: cut(textOf(cause.message), LIMITS.errorCauseLength), ...(code !== undefined && { code }) }
}

/** Returns the causes of an error, the nearest first. A cause that is not an error is the last. */
function chainOf(error: Error): unknown[] {
  const chain: unknown[] = []
  for (let { cause } = error; cause !== undefined && chain.length < LIMITS.errorCauses; ) {
    chain.push(cause)
    cause = isError(cause) ? cause.cause : undefined
  }
  return chain
}

function lengthOf({ code = '', cause = [] }: Facts): number {
  return cause.reduce((length, each) => length + each.name.length + each.message.length + (each.code?.length ?? 0), code.length)
}

/** Adds the details, and cuts the stack first: they are short, and the end of a long stack says least. */
function withDetails(stack: string, details: readonly string[], length: number): string {
  if (details.length === 0) return cut(stack, length)
  const rest = cutWord(details.map((line) => `\n${line}`).join(''), length / 2)
  return cutWord(stack, length - rest.length) + rest
}

/**
 * Returns the details of an error beside its stack, as Node shows them: `code`, the chain of `cause`, the `errors` of an AggregateError, and
 * the two errors of a SuppressedError.
 */
function detailsOf(error: Error): string[] {
  return attempt(() => [...codeLine(error), ...heldBy(error, HELD_DEPTH)], [])
}

/** Returns the errors in an error, with those in them up to a depth. */
function heldBy(error: Error, depth: number): string[] {
  if (depth === 0) return []
  const inside = (each: unknown) => (isError(each) ? heldBy(each, depth - 1) : [])
  const causes = chainOf(error).flatMap((cause) => [...linesOf('[cause]', cause), ...(isError(cause) ? errorsOf(cause) : [])])
  return [...errorsOf(error, inside), ...causes]
}

function nameOf({ name }: Error): string {
  return cut(typeof name === 'string' && name !== '' ? name : 'Error', LIMITS.errorNameLength)
}

function codeOf({ code }: Error & { readonly code?: unknown }): string | undefined {
  return (typeof code === 'string' && code !== '') || typeof code === 'number' ? cut(String(code), LIMITS.errorCodeLength) : undefined
}

function codeLine(error: Error): string[] {
  const code = codeOf(error)
  return code === undefined ? [] : [`[code]: ${code}`]
}

function linesOf(label: string, value: unknown): string[] {
  return [`${label}: ${shortOf(value)}`, ...attempt(() => (isError(value) ? codeLine(value) : []), [])]
}

function errorsOf(error: Error, inside: (each: unknown) => readonly string[] = () => []): string[] {
  const shown = (label: string, each: unknown) => [...linesOf(label, each), ...attempt(() => inside(each), [])]
  if (isSuppressed(error)) return [...shown('[error]', error.error), ...shown('[suppressed]', error.suppressed)]
  if (!isErrorOf(error, 'AggregateError') || !Array.isArray(error.errors)) return []
  const lines = error.errors.slice(0, ERRORS_MAX).flatMap((each, index) => shown(`[errors][${index}]`, each))
  const left = error.errors.length - ERRORS_MAX
  return left > 0 ? [...lines, `[errors]: ${left} more`] : lines
}

/** True for the error of a `using` whose disposal failed after another error. Node 22 has no class for it. */
function isSuppressed(error: Error): error is Error & { readonly error: unknown; readonly suppressed: unknown } {
  return error.name === 'SuppressedError' && 'suppressed' in error && 'error' in error
}

function shortOf(value: unknown): string {
  const text = attempt(() => (isError(value) ? (value.stack ?? `${value.name}: ${value.message}`) : textOf(value)), UNREADABLE_TEXT)
  return cutWord(text, CAUSE_STACK_LENGTH)
}

function attempt<Answer>(read: () => Answer, otherwise: Answer): Answer {
  try {
    return read()
  } catch {
    return otherwise
  }
}

function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? (shownJson(value) ?? 'an object') : String(value)
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}

/** Cuts off the last word too: half of it may be half of what `redact` would hide. */
function cutWord(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length - 1).replace(/\S*$/, '…')
}
