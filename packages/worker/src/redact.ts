/** Applies `redact` to everything that a run says about itself, before any of it leaves the worker. */
import {
  encodeProgress,
  isError,
  LIMITS,
  type Logger,
  type LogLine,
  type Redact,
  type RunCause,
  type RunError,
  type Said,
} from '@millrace/core'
import type { Progress } from './handlerContext.ts'

const HIDDEN = '[redact has failed: nothing is shown]'

export class Redactor {
  readonly #redact: Redact
  readonly #logger: Logger | undefined
  #told = false

  constructor(redact: Redact, logger: Logger | undefined) {
    this.#redact = redact
    this.#logger = logger
  }

  error(name: string, error: RunError): RunError {
    const { stack } = error
    const { message, stack: shown } = this.#ask({
      kind: 'error',
      name,
      message: whole(error.message, LIMITS.errorMessageLength),
      ...(stack !== undefined && { stack: whole(stack, LIMITS.errorStackLength) }),
    })
    return {
      name: error.name,
      message: message.slice(0, LIMITS.errorMessageLength),
      ...(typeof shown === 'string' && { stack: shown.slice(0, LIMITS.errorStackLength) }),
      ...this.#code(name, error.code),
      ...(error.cause !== undefined && { cause: error.cause.map((cause) => this.#cause(name, cause)) }),
    }
  }

  #cause(name: string, { name: cause, message, code }: RunCause): RunCause {
    return { name: cause, message: this.#errorText(name, message, LIMITS.errorCauseLength), ...this.#code(name, code) }
  }

  #code(name: string, code: string | undefined): Pick<RunError, 'code'> {
    const shown = code === undefined ? '' : this.#errorText(name, code, LIMITS.errorCodeLength)
    return shown === '' ? {} : { code: shown }
  }

  /** Redacts a string as if it were the message of an error: a function that only knows messages then covers all strings. */
  #errorText(name: string, text: string, limit: number): string {
    return this.#ask({ kind: 'error', name, message: whole(text, limit) }).message.slice(0, limit)
  }

  lines(name: string, lines: readonly LogLine[]): readonly LogLine[] {
    return lines.map((line) => {
      const fields = line.fields === undefined ? undefined : fieldsOf(line.fields)
      const asked = { kind: 'log', name, message: whole(line.message, LIMITS.logMessageLength), ...(fields && { fields }) } as const
      const { message, fields: shown } = this.#ask(asked)
      return {
        at: line.at,
        level: line.level,
        message: message.slice(0, LIMITS.logMessageLength),
        ...(shown && { fields: JSON.stringify(shown).slice(0, LIMITS.logMessageLength) }),
      }
    })
  }

  /** Redacts a line for the worker's own log. */
  line(name: string, message: string): string {
    return this.#ask({ kind: 'log', name, message }).message
  }

  progress(name: string, { fraction, note, value }: Progress): Progress {
    if (note === undefined && value === undefined) return { fraction }
    const given = value === undefined ? {} : { value: JSON.parse(value) as unknown }
    const { message, value: shown } = this.#ask({ kind: 'progress', name, message: whole(note ?? '', LIMITS.logMessageLength), ...given })
    return {
      fraction,
      ...(message !== '' && { note: message.slice(0, LIMITS.logMessageLength) }),
      ...(value !== undefined && shown !== undefined && { value: encodeProgress(shown) }),
    }
  }

  #ask(shown: Said): ReturnType<Redact> {
    try {
      const answer = this.#redact(shown)
      if (typeof answer?.message !== 'string') throw new TypeError(`redact answers { message }, not ${typeof answer?.message}`)
      if (answer.fields !== undefined) JSON.stringify(answer.fields)
      if (answer.value !== undefined) encodeProgress(answer.value)
      return answer
    } catch (error) {
      // Log it once: it may fail for every line.
      if (!this.#told) this.#logger?.error('redact has failed: what it was asked about is hidden', { error: nameOf(error) })
      this.#told = true
      return { message: HIDDEN }
    }
  }
}

/** Removes the last word of a string that was cut to its limit: it may be half of what would be redacted. */
function whole(text: string, limit: number): string {
  return text.length < limit ? text : text.replace(/\S*$/, '…')
}

/** Parses the fields of a log line. Fields that were cut are no longer JSON, and can only be hidden. */
function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return { hidden: 'longer than is kept' }
  }
}

/** Returns the name of an error: its message may contain what was to be redacted. */
function nameOf(error: unknown): string {
  return isError(error) ? error.name : typeof error
}
