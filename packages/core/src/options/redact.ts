/** The option `redact`, which changes errors and logs before they leave the worker. */
import { OptionTypeError } from '../errors.ts'
import { describe } from './describe.ts'

/** A text that a run reports, before it is stored. */
export interface Said {
  /** The error that a run ended with, a line of its log, or its progress: the note, empty if there is none. */
  readonly kind: 'error' | 'log' | 'progress'
  /** The name of the job. */
  readonly name: string
  /** The text. The message of each cause of an error, and each code, is passed by itself, in a call of its own. */
  readonly message: string
  /** The stack, of an error. */
  readonly stack?: string
  /** The fields, of a log line. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** The value, of a report of progress. */
  readonly value?: unknown
}

/** Answers what is stored instead. Where it throws, or answers no message, none of it is. */
export type Redact = (said: Said) => Pick<Said, 'message' | 'stack' | 'fields' | 'value'>

export function redactOption(option: string, value: unknown): Redact {
  if (typeof value !== 'function') throw new OptionTypeError(option, `${option} must be a function, got ${describe(value)}`)
  return value as Redact
}
