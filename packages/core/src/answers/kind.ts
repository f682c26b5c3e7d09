/**
 * The kinds of values in answers, and the types that derive from a table of them. An adapter knows kinds, and no field: http has one for its
 * schemas, the tests have one for docs/protocol.md and one for the Python client.
 */
import type { Backoff, Data, JobKey, Row } from '@millrace/core'

/**
 * - `key`: a job's id, whose three numbers are fields of the map itself on the wire. `id`: the same as a map of its own.
 * - `data`: a payload. `json`: any JSON, which the wire has as a string. `fields`: the same of an object. `value`: JSON as it is.
 * - `stamp`: a time that is a number of milliseconds since 1970 in every language but Python.
 * - `forever`: a duration that may be without an end; the longest one says so.
 */
export type AnswerKind =
  | { readonly type: Scalar }
  | { readonly type: 'choice'; readonly words: readonly string[] }
  | { readonly type: 'list' | 'map'; readonly of: AnswerKind }
  | AnswerRecord
  | AnswerOptions

type Scalar = keyof Scalars['wire']

/** A map with known fields. `says` describes it where its name has no other description. */
export interface AnswerRecord {
  readonly type: 'record'
  readonly name: string
  readonly rows: Answers
  readonly says?: string | undefined
}

/** Options or settings as they are in force, by their rows, and other fields. `as` has their types, and never a value. */
export interface AnswerOptions<Type = unknown, InJson = unknown> {
  readonly type: 'options'
  readonly rows: Readonly<Record<string, Row>>
  readonly more: Answers
  readonly as?: { readonly type: Type; readonly inJson: InJson }
}

/**
 * A field of an answer. `says` is a sentence without its full stop. `zero`, `nil` and `missing` are how the wire says that there is no value,
 * each with its condition in words. Elsewhere such a field is left out.
 */
export interface Answer {
  readonly kind: AnswerKind
  readonly says: string
  /** Its name on the wire, if that differs. */
  readonly from?: string
  readonly zero?: string
  readonly nil?: string
  readonly missing?: string
  /** The condition of a null that every surface shows. */
  readonly null?: string
  /** The most items of a list, or characters of a string. */
  readonly max?: number
  readonly example?: string
  /** The value that clients return in place of none: they never leave the field out. */
  readonly otherwise?: number | Readonly<Record<string, never>>
}

export type Answers = Readonly<Record<string, Answer>>

const scalar = <const Type extends Scalar>(type: Type) => ({ type }) as const

export const STRING = scalar('string')
export const COUNT = scalar('count')
export const NUMBER = scalar('number')
export const BOOLEAN = scalar('boolean')
export const TRUE = scalar('true')
export const TIME = scalar('time')
export const STAMP = scalar('stamp')
export const DURATION = scalar('duration')
export const ENDLESS = scalar('endless')
export const FOREVER = scalar('forever')
export const KEY = scalar('key')
export const ID = scalar('id')
export const DATA = scalar('data')
export const JSON_TEXT = scalar('json')
export const FIELDS = scalar('fields')
export const VALUE = scalar('value')
export const BACKOFF = scalar('backoff')

export const choice = <const Words extends readonly string[]>(words: Words) => ({ type: 'choice', words }) as const

export const list = <const Of extends AnswerKind>(of: Of) => ({ type: 'list', of }) as const

/** A map by names that people have chosen. */
export const map = <const Of extends AnswerKind>(of: Of) => ({ type: 'map', of }) as const

export const record = <const Rows extends Answers, const Says extends string | undefined = undefined>(
  name: string,
  rows: Rows,
  says?: Says,
) => ({ type: 'record', name, rows, says: says as Says }) as const

export const options = <Type, InJson = Type>(rows: AnswerOptions['rows'], more: Answers = {}): AnswerOptions<Type, InJson> => ({
  type: 'options',
  rows,
  more,
})

/** Kinds of one value, by the surface that shows it. */
interface Scalars {
  /** As it crosses a Port, and the wire. */
  readonly wire: {
    string: string
    count: number
    number: number
    boolean: boolean
    true: true
    time: number
    stamp: number
    duration: number
    endless: number
    forever: number
    key: JobKey
    id: JobKey
    data: Data
    json: string
    fields: string
    value: unknown
    backoff: Backoff
  }
  /** As the client of TypeScript returns it. */
  readonly client: Omit<Scalars['wire'], 'time' | 'key' | 'id' | 'data' | 'json' | 'fields'> & {
    time: Date
    key: string
    id: string
    data: unknown
    json: unknown
    fields: Readonly<Record<string, unknown>>
  }
  /** As JSON over HTTP. */
  readonly http: Omit<Scalars['client'], 'time' | 'endless' | 'backoff'> & {
    time: string
    endless: number | null
    backoff: Omit<Backoff, 'type'> & { readonly type: string }
  }
}

export type Surface = keyof Scalars

/** The type of a value on a surface. */
export type AnswerOf<Kind, On extends Surface> = Kind extends { readonly type: infer Type extends Scalar }
  ? Scalars[On][Type]
  : Kind extends { readonly words: readonly (infer Word)[] }
    ? Word
    : Kind extends { readonly type: 'list'; readonly of: infer Of }
      ? readonly AnswerOf<Of, On>[]
      : Kind extends { readonly type: 'map'; readonly of: infer Of }
        ? Readonly<Record<string, AnswerOf<Of, On>>>
        : Kind extends { readonly type: 'record'; readonly rows: infer Rows }
          ? FieldsOf<Rows, On>
          : Kind extends AnswerOptions<infer Type, infer InJson>
            ? On extends 'http'
              ? InJson
              : Type
            : never

/** The type of a map with these rows on a surface. */
export type FieldsOf<Rows, On extends Surface> = On extends 'wire' ? OnWire<Rows> : Shown<Rows, On>

type OnWire<Rows> = {
  readonly [Name in keyof Rows as IsKey<Rows[Name], never, Left<Rows[Name], never, NameOn<Rows, Name>>>]: Value<Rows[Name]>
} & {
  readonly [Name in keyof Rows as IsKey<Rows[Name], never, Left<Rows[Name], NameOn<Rows, Name>, never>>]?: Value<Rows[Name]>
} & (true extends {
    [Name in keyof Rows]: IsKey<Rows[Name], true, never>
  }[keyof Rows]
    ? JobKey
    : unknown)

type Value<Row> = ValueOn<Row, 'wire'> | (Row extends { readonly nil: string } ? null : never)
type IsKey<Row, Yes, No> = Row extends { readonly kind: { readonly type: 'key' } } ? Yes : No
type Left<Row, Yes, No> = Row extends { readonly missing: string } ? Yes : No
type NameOn<Rows, Name extends keyof Rows> = Rows[Name] extends { readonly from: infer From extends string } ? From : Name

/** The type of a field that has a value. */
export type ValueOn<Row, On extends Surface> = Row extends { readonly kind: infer Kind }
  ? AnswerOf<Kind, On> | (Row extends { readonly null: string } ? null : never)
  : never

type Shown<Rows, On extends Surface> = {
  readonly [Name in keyof Rows as Absent<Rows[Name], never, Name>]: ValueOn<Rows[Name], On>
} & { readonly [Name in keyof Rows as Absent<Rows[Name], Name, never>]?: ValueOn<Rows[Name], On> }

/** `Yes` if a surface other than the wire may leave it out. */
type Absent<Row, Yes, No> = Row extends { readonly otherwise: unknown }
  ? No
  : Row extends { readonly zero: string } | { readonly nil: string } | { readonly missing: string }
    ? Yes
    : No

/** True if both types have the same fields of the same types, where one that may be absent may be undefined as well. */
export type Same<A, B> = [Whole<A>, Whole<B>] extends [Whole<B>, Whole<A>]
  ? true
  : { readonly onlyLeft: Whole<A>; readonly onlyRight: Whole<B> }

type Whole<Type> = Type extends Date | Uint8Array
  ? Type
  : Type extends readonly (infer Of)[]
    ? readonly Whole<Of>[]
    : Type extends object
      ? { readonly [Name in keyof Type]-?: Whole<Type[Name]> | (Record<never, never> extends Pick<Type, Name> ? undefined : never) }
      : Type
