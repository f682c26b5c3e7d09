/**
 * Objects as arrays of fields, in the order in which the fields are declared. Fields at the end that say nothing may be left out,
 * and fields behind the last one that this version knows are skipped. So peers of different age understand each other.
 */

import { WireError } from '../errors.ts'
import type { Reader } from '../msgpack/reader.ts'
import type { Writer } from '../msgpack/writer.ts'
import { FIELDS_MAX, type Kind } from './kinds.ts'

export interface Field<T> {
  readonly kind: Kind<Exclude<T, undefined | null>> | Kind<T>
  /** The purpose of the field, for docs/protocol.md. */
  readonly note: string
  /** The meaning of nil: not allowed, no such property, or a value. */
  readonly absent: 'never' | 'property' | 'value'
  readonly value?: unknown
}

/** Every property of T, in the order of the fields. */
export type Fields<T> = { readonly [Name in keyof T]-?: Field<T[Name]> }

export function field<T>(kind: Kind<T>, note = ''): Field<T> {
  return { kind, note, absent: 'never' }
}

/** A property that may be absent. */
export function optional<T>(kind: Kind<T>, note = ''): Field<T | undefined> {
  return { kind, note, absent: 'property' } as Field<T | undefined>
}

/** A property that is always present: nil stands for `empty`. */
export function or<T, E>(kind: Kind<T>, empty: E, note = ''): Field<T | E> {
  return { kind, note, absent: 'value', value: empty } as Field<T | E>
}

export interface RecordKind<T> extends Kind<T> {
  readonly name: string
  readonly fields: Fields<T>
  /** Begins an array: `lead` fields, which the caller writes next, and these fields behind them. Returns the number of the latter. */
  head(out: Writer, value: T, lead: number): number
  writeFields(out: Writer, value: T, length: number): void
  /** Reads the rest of an array, which has `left` more fields, into `target`. */
  readInto(from: Reader, left: number, target: object): T
}

export function record<T extends object>(name: string, fields: Fields<T>): RecordKind<T> {
  const names = Object.keys(fields) as (string & keyof T)[]
  const list = names.map((each) => fields[each] as Field<unknown>)

  /** Returns the number of fields up to the last one that says something. */
  function lengthOf(value: T): number {
    let length = names.length
    while (length > 0 && isAbsent(list[length - 1] as Field<unknown>, value[names[length - 1] as keyof T])) length--
    return length
  }

  const kind: RecordKind<T> = {
    name,
    says: name,
    fields,
    head(out, value, lead) {
      const length = lengthOf(value)
      out.array(lead + length)
      return length
    },
    writeFields(out, value, length) {
      for (let index = 0; index < length; index++) {
        const each = list[index] as Field<unknown>
        const of = value[names[index] as keyof T]
        if (isAbsent(each, of)) out.nil()
        else (each.kind as Kind<unknown>).write(out, of)
      }
    },
    write(out, value) {
      kind.writeFields(out, value, kind.head(out, value, 0))
    },
    read(from) {
      return kind.readInto(from, from.array(FIELDS_MAX), {})
    },
    readInto(from, left, target) {
      const into = target as Record<string, unknown>
      let index = 0
      try {
        for (; index < names.length; index++) {
          const each = list[index] as Field<unknown>
          const of = names[index] as string
          from.where = of
          if (index < left && !(each.absent !== 'never' && from.nil())) into[of] = each.kind.read(from)
          else if (each.absent === 'never') throw from.wrong(`is missing: ${name} has ${names.length} fields, and only ${left} came`)
          else if (each.absent === 'value') into[of] = each.value
        }
      } catch (error) {
        throw error instanceof WireError ? error.under(names[index] as string) : error
      }
      for (let rest = left - names.length; rest > 0; rest--) from.skip()
      return into as T
    },
  }
  return kind
}

function isAbsent({ absent, value: empty }: Field<unknown>, value: unknown): boolean {
  if (absent === 'never') return false
  // Null is a value of an optional property: it sets the property to nothing.
  if (value === undefined || (value === null && absent === 'value')) return true
  return Array.isArray(empty) && Array.isArray(value) && value.length === 0
}
