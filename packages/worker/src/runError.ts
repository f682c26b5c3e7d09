/** Returns errors as they are stored. */
import { LIMITS, type RunCause, type RunError } from '@millrace/core'

const ERRORS_MAX = 10
/** The maximum length of a cause's stack: its first lines show where it was thrown. */
const CAUSE_STACK_LENGTH = 1_000

/** Returns an error as it is stored. Never throws, even for an object without a prototype, or an error with getters that throw. */
export function runErrorOf(error: unknown): RunError {
  try {
    if (!(error instanceof Error)) return { name: 'Error', message: cut(textOf(error), LIMITS.errorMessageLength) }
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

function causeOf(cause: unknown): RunCause {
  if (!(cause instanceof Error)) return { name: 'Error', message: cut(textOf(cause), LIMITS.errorCauseLength) }
  const code = codeOf(cause)
  return { name: nameOf(cause), message: cut(textOf(cause.message), LIMITS.errorCauseLength), ...(code !== undefined && { code }) }
}

/** Returns the causes of an error, the nearest first. A cause that is not an error is the last. */
function chainOf(error: Error): unknown[] {
  const chain: unknown[] = []
  for (let { cause } = error; cause !== undefined && chain.length < LIMITS.errorCauses; ) {
    chain.push(cause)
    cause = cause instanceof Error ? cause.cause : undefined
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
 * Returns the details of an error beside its stack, as Node shows them: `code`, the chain of `cause`, and the `errors` of
 * an AggregateError.
 */
function detailsOf(error: Error): string[] {
  return attempt(() => [...codeLine(error), ...errorsOf(error), ...chainOf(error).flatMap(causeLines)], [])
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

function causeLines(cause: unknown): string[] {
  return [`[cause]: ${shortOf(cause)}`, ...(cause instanceof Error ? codeLine(cause) : [])]
}

function errorsOf(error: Error): string[] {
  if (!(error instanceof AggregateError)) return []
  const shown = error.errors.slice(0, ERRORS_MAX).map((each, index) => `[errors][${index}]: ${shortOf(each)}`)
  const left = error.errors.length - shown.length
  return left > 0 ? [...shown, `[errors]: ${left} more`] : shown
}

function shortOf(value: unknown): string {
  const text = value instanceof Error ? (value.stack ?? `${value.name}: ${value.message}`) : textOf(value)
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
  return typeof value === 'object' && value !== null ? (JSON.stringify(value) ?? 'an object') : String(value)
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}

/** Cuts off the last word too: half of it may be half of what `redact` would hide. */
function cutWord(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length - 1).replace(/\S*$/, '…')
}
