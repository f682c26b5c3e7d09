/**
 * The kinds of values that a field can hold. Every kind says in words what it accepts, for docs/protocol.md, and checks what it
 * reads against its limits: its values are as valid as if core's options had checked them.
 */
import { type Data, describe, LIMITS, NAME_PATTERN, prefixOf, TooLargeError, withCommas } from '@millrace/core'
import { WireError } from '../errors.ts'
import { type Reader, repeated } from '../msgpack/reader.ts'
import { tooMany, writeValue } from '../msgpack/value.ts'
import type { Writer } from '../msgpack/writer.ts'

export interface Kind<T> {
  readonly says: string
  write(out: Writer, value: T): void
  read(from: Reader): T
}

const SAFE = Number.MAX_SAFE_INTEGER

/** The most fields that arrays from newer peers may have. */
export const FIELDS_MAX = 64

export const boolean: Kind<boolean> = {
  says: 'boolean',
  write: (out, value) => out.bool(value),
  read: (from) => from.bool(),
}

export function integer(min: number, max: number, says = `integer, ${withCommas(min)} to ${withCommas(max)}`): Kind<number> {
  return {
    says,
    write: (out, value) => out.number(value),
    read: (from) => {
      const value = from.integer()
      if (value < min || value > max) throw from.outside(value < min ? min : max, `an integer between ${min} and ${max}, got ${value}`)
      return value
    },
  }
}

export const count = integer(0, SAFE, 'integer')
export const signed = integer(-SAFE, SAFE, 'integer, may be negative')
/** Milliseconds since 1970, which a Date can hold; 0 for never. */
export const time: Kind<number> = {
  says: 'time',
  write: (out, value) => out.number(value),
  read: (from) => {
    const value = from.integer()
    if (value >= 0 && value <= LIMITS.timeMs) return value
    throw from.outside(value < 0 ? 0 : LIMITS.timeMs, `a time between 0 ms and ${LIMITS.timeMs} ms since 1970, got ${value} ms`)
  },
}
/** Whole milliseconds with a bound of their own. */
export function span(max: number): Kind<number> {
  return {
    says: `milliseconds, 0 or more, up to ${withCommas(max)}`,
    write: (out, value) => out.number(value),
    read: (from) => {
      const value = from.integer()
      if (value >= 0 && value <= max) return value
      throw from.outside(value < 0 ? 0 : max, `between 0 ms and ${max} ms, got ${value} ms`)
    },
  }
}

/** The time in a job's id. */
export const idTime = integer(0, LIMITS.idTimeMs, 'time below 2^48')

/** A number that may have a fraction. */
export function number(min: number, max: number, says = `number, ${withCommas(min)} to ${withCommas(max)}`): Kind<number> {
  return {
    says,
    write: (out, value) => out.number(value),
    read: (from) => {
      const value = from.number()
      if (value < min || value > max) throw from.outside(value < min ? min : max, `a number between ${min} and ${max}, got ${value}`)
      return value
    },
  }
}

/**
 * Milliseconds. A part of one counts as a whole one, as it does for callers in the engine's process. A duration of more than a
 * hundred years counts as a hundred years: it is no reason to break a connection.
 */
export function duration(min: number, infinity = false): Kind<number> {
  const most = infinity ? ', or float64 infinity for none' : ''
  return {
    says: `milliseconds, ${min} or more${most}`,
    write: (out, value) => out.number(value),
    read: (from) => {
      const value = from.number()
      if (value < min) throw from.outside(min, `at least ${min} ms, got ${value} ms`)
      if (value <= LIMITS.durationMs) return Math.ceil(value)
      if (infinity && value === Number.POSITIVE_INFINITY) return value
      return LIMITS.durationMs
    },
  }
}

export function text(max: number, says = `string, up to ${withCommas(max)}`): Kind<string> {
  return {
    says,
    write: (out, value) => {
      if (value.length > max)
        throw new TooLargeError(`a string must have at most ${withCommas(max)} UTF-16 units here, got ${withCommas(value.length)}`)
      out.text(value)
    },
    read: (from) => from.text(max),
  }
}

/** A string that is not empty. */
export function filled(max: number): Kind<string> {
  const any = text(max, `string, 1 to ${withCommas(max)}`)
  return {
    ...any,
    read: (from) => {
      const value = any.read(from)
      if (value === '') throw from.outside(1, `a string of 1 to ${max} UTF-16 units, got an empty one`)
      return value
    },
  }
}

/** A string from people or programs: it is cut if it is too long, as it is for workers in the engine's own process. */
export function told(max: number): Kind<string> {
  return {
    says: `string, cut to ${withCommas(max)}`,
    write: (out, value) => out.text(value),
    read: (from) => {
      const whole = from.text(SAFE)
      return whole.length > max ? whole.slice(0, max) : whole
    },
  }
}

/** A short string that mostly repeats. */
export function recurring(max: number): Kind<string> {
  const last = repeated()
  return {
    says: `string, up to ${withCommas(max)}`,
    write: (out, value) => out.text(value),
    read: (from) => from.repeated(last, max),
  }
}

const NAME = new RegExp(NAME_PATTERN)
const PREFIX = /^[A-Za-z0-9_.:/-]*$/

/** The name of a job or a queue: each field remembers the last one that was valid. */
export function name(): Kind<string> {
  const last = repeated()
  let good: string | undefined
  return {
    says: 'name',
    write: (out, value) => out.text(value),
    read: (from) => {
      const value = from.repeated(last, LIMITS.nameLength)
      if (value === good) return value
      if (!NAME.test(value)) throw from.wrong(`a name of 1 to 128 of the characters A-Z a-z 0-9 _ . : / -, got ${describe(value)}`)
      good = value
      return value
    },
  }
}

/** A queue that a worker names, or the beginning of such names and an asterisk. */
export const queuePattern: Kind<string> = {
  says: 'name, or the beginning of names and `*`',
  write: (out, value) => out.text(value),
  read: (from) => {
    const value = from.text(LIMITS.nameLength + 1)
    const prefix = prefixOf(value)
    if (prefix === undefined ? !NAME.test(value) : prefix.length > LIMITS.nameLength || !PREFIX.test(prefix))
      throw from.wrong(`a name of 1 to 128 of the characters A-Z a-z 0-9 _ . : / -, or the beginning of one and *, got ${describe(value)}`)
    return value
  },
}

/** A text that a caller gives a job. */
export function given(max: number, what = 'text'): Kind<string> {
  return {
    says: what === 'text' ? `string, 1 to ${withCommas(max)}` : what,
    write: (out, value) => out.text(value),
    read: (from) => {
      const value = from.text(max)
      if (value === '') throw from.outside(1, `a ${what} of 1 to ${max} UTF-16 units, got an empty string`)
      if (!value.isWellFormed()) throw from.wrong(`a ${what} of well-formed Unicode, got half of a surrogate pair`)
      return value
    },
  }
}

/** A key for idempotency, uniqueness or concurrency, or a tag. */
export const key: Kind<string> = given(LIMITS.keyLength, 'key')

export const data: Kind<Data> = {
  says: 'data',
  write: (out, value) => {
    if (value === null) out.nil()
    else if (typeof value === 'string') out.text(value)
    else out.bytes(value)
  },
  read: (from) => from.data(),
}

/** A value that may be set to nothing; nil says that it is not set at all. */
export const changed: Kind<Data> = {
  says: 'array of one: data',
  write: (out, value) => {
    out.array(1)
    data.write(out, value)
  },
  read: (from) => {
    if (from.array(1) !== 1) throw from.wrong('an array of one')
    return data.read(from)
  },
}

export const value: Kind<unknown> = {
  says: 'value',
  write: (out, any) => writeValue(out, any),
  read: (from) => from.value(),
}

/** One of a few words, as its place among them, from 0. */
export function choice<T extends string>(words: readonly T[]): Kind<T> {
  return {
    says: words.map((word, code) => `${code} ${word}`).join(', '),
    write: (out, word) => out.number(words.indexOf(word)),
    read: (from) => {
      const word = words[from.integer()]
      if (word === undefined) throw from.wrong(`an integer between 0 and ${words.length - 1}`)
      return word
    },
  }
}

/** A number that is one of a few. */
export function code<T extends number>(words: readonly string[]): Kind<T> {
  const kind = integer(0, words.length - 1, words.map((word, place) => `${place} ${word}`).join(', '))
  return kind as Kind<T>
}

export function list<T>(item: Kind<T>, max: number): Kind<readonly T[]> {
  return {
    says: `array of up to ${withCommas(max)}: ${item.says}`,
    write: (out, items) => {
      if (items.length > max) throw tooMany('an array', max, items.length)
      out.array(items.length)
      for (const each of items) item.write(out, each)
    },
    read: (from) => {
      const items: T[] = []
      const count = from.array(max)
      try {
        while (items.length < count) items.push(item.read(from))
      } catch (error) {
        throw error instanceof WireError ? error.under(`[${items.length}]`) : error
      }
      return items
    },
  }
}
