/** Parses flags into values that the engine checks. It passes on invalid numbers and durations, which the engine rejects by name. */
import { readFile } from 'node:fs/promises'
import { bytesOption, checkJsonText, isErrorOf, timeOption, withoutMark } from '@millrace/core'
import { InvalidArgumentError } from 'commander'
import { UsageError } from './errors.ts'

/** Returns a number, or the string if it is none. */
export function number(text: string): number {
  return (text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text) as number
}

/** Accepts `5m`, `90s` or `250ms`, and `none` for no limit. A unit is required, because a number alone may mean seconds or milliseconds. */
export function duration(text: string): number {
  if (text === 'none' || text === 'Infinity') return Number.POSITIVE_INFINITY
  const missing = unitMissing(text)
  if (missing !== undefined) throw new InvalidArgumentError(missing)
  return (text === '0' ? 0 : text) as number
}

/** Returns what to write in place of a number that stands alone; undefined for any other string, and for 0. */
export function unitMissing(text: string): string | undefined {
  if (!(Number(text) > 0 && Number.isFinite(Number(text)))) return undefined
  return `A duration requires its unit: write ${text}s for seconds, or ${text}ms for milliseconds.`
}

/** Parses ISO 8601 with its zone, or milliseconds since 1970. Only a time of the calendar passes: a filter must not match other jobs than it says. */
export function time(text: string): Date {
  const value = /^\d+$/.test(text) ? Number(text) : text
  try {
    return new Date(timeOption('time', value))
  } catch (error) {
    if (isErrorOf(error, 'OptionRangeError')) throw new InvalidArgumentError(`The ${error.message}.`)
    throw new InvalidArgumentError(
      'A time is ISO 8601 with its zone, on a day that exists (2030-01-31T12:00:00Z, 2030-01-31T12:00+01:00), or milliseconds since 1970.',
    )
  }
}

/** The parsed value of `none`. It is not null, which commander takes for a flag without its value. */
export const NONE: unique symbol = Symbol('none')

/** Returns a parser that also accepts `none`, which removes a setting. */
export function orNone<T>(parse: (text: string) => T): (text: string) => T | typeof NONE {
  return (text) => (text === 'none' ? NONE : parse(text))
}

/** Returns flags with null, which removes a setting, in place of `none`. */
export function removing(flags: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, value === NONE ? null : value]))
}

/** Parses a flag that may be repeated, and may take several values at once: `a,b`. */
export function names(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, ...text.split(',')]
}

/** Parses a flag that may be repeated. Its values may contain commas. */
export function texts(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, text]
}

/** The parsers of flags that may be given more than once. */
export const REPEATABLE: ReadonlySet<unknown> = new Set([names, texts])

export function json(text: string): unknown {
  try {
    return parsedJson('it', text)
  } catch (error) {
    if (isErrorOf(error, 'SyntaxError')) throw new InvalidArgumentError(`It is not JSON: ${error.message}. ${quoted(text)}`)
    throw new InvalidArgumentError((error as Error).message)
  }
}

/**
 * Parses JSON, and makes sure that its numbers keep the value that is written.
 *
 * @throws SyntaxError; OptionRangeError for a number that would change, and for deep nesting
 */
export function parsedJson(option: string, text: string): unknown {
  checkJsonText(option, text)
  return JSON.parse(text)
}

/**
 * Parses the argument as JSON, or the content of a file if it is `@file`. With `binary` it is base64, or a file of any bytes. Undefined
 * if nothing is given.
 */
export async function dataOf(argument: string | undefined, binary = false): Promise<unknown> {
  if (argument === undefined) {
    if (binary) throw new UsageError('--binary says how the data is written: give data too, as base64 or @file')
    return undefined
  }
  if (binary) return argument.startsWith('@') ? new Uint8Array(await readBytes(argument.slice(1))) : bytesOption('data', argument)
  const text = argument.startsWith('@') ? await readText(argument.slice(1)) : argument
  try {
    return parsedJson('data', text)
  } catch (cause) {
    if (!isErrorOf(cause, 'SyntaxError')) throw cause
    const where = argument.startsWith('@') ? argument.slice(1) : '<data>'
    throw new UsageError(`${where} is not JSON: ${(cause as Error).message}. ${quoted(text)}`, { cause })
  }
}

async function readText(file: string): Promise<string> {
  return withoutMark((await readBytes(file)).toString('utf8'))
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (cause) {
    throw new UsageError(`cannot read ${file}: ${(cause as Error).message}`, { cause })
  }
}

/** Returns a hint on how to write a string that lacks its quotes. */
function quoted(text: string): string {
  return `A string needs double quotes of its own: '${/^[\w .@-]{1,40}$/.test(text) ? JSON.stringify(text) : '"text"'}'`
}
