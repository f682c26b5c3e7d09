/**
 * The kinds of values, as data. What derives from a row of a noun knows kinds, and no option: its check here; its HTTP schemas, its flag, its
 * settings, its field of a form and its documentation elsewhere.
 */
import type { Backoff } from '../backoff.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import type { Keep } from '../retention.ts'
import { backoffOption } from './backoff.ts'
import { booleanOption, choiceOption } from './choice.ts'
import { cronOption, zoneOption } from './cron.ts'
import { describe, shortened } from './describe.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { durationOption, timeOption } from './milliseconds.ts'
import { nameOption } from './name.ts'
import { type Check, orNull } from './read.ts'
import { keepOption } from './retention.ts'
import { textOption } from './text.ts'
import { UNSAFE_KEYS } from './unsafeKeys.ts'

export type Kind =
  | { readonly type: 'name' }
  | { readonly type: 'integer'; readonly min: number; readonly max: number }
  | DurationKind
  | { readonly type: 'choice'; readonly words: readonly string[]; readonly absence?: string }
  | { readonly type: 'boolean' | 'time' | 'cron' | 'zone' }
  | { readonly type: 'text'; readonly max: number }
  | { readonly type: 'backoff' }
  | { readonly type: 'keep'; readonly preset: Keep }
  | RecordKind
  | { readonly type: 'tiers'; readonly of: RecordKind }

/**
 * In ms, at most `max`, by default 100 years. `endless`: Infinity is allowed too, kept as it is or as those 100 years. JSON says it as null.
 * `forever`: the word is allowed too, for those 100 years.
 */
export interface DurationKind {
  readonly type: 'duration'
  readonly min: number
  readonly max?: number
  readonly endless?: 'kept' | 'capped'
  readonly forever?: true
}

export interface RecordKind {
  readonly type: 'record'
  readonly fields: Readonly<Record<string, Field>>
  /** How people write it in one line: `100/1m:20`, `smtp:5`. Without it: as JSON. */
  readonly notation?: 'rate' | 'shared'
  /** Names what a value must have, if it may not be empty. */
  readonly some?: string
}

/** One option of a noun. */
export interface Row {
  readonly kind: Kind
  /** Describes the option: a sentence without its full stop. */
  readonly says: string
  /** The value where nobody sets it; undefined for none. */
  readonly preset?: string
  /** A value as JSON. */
  readonly example?: string
}

/** A part of a record. */
export interface Field {
  readonly kind: Kind
  readonly says?: string
  readonly preset?: string
  readonly required?: true
  /** The value of a field that is left out: a number, or that of the field with this name. */
  readonly otherwise?: number | string
}

/** A checked value. */
export type ValueOf<One extends Kind> = One extends { readonly type: 'name' | 'cron' | 'zone' | 'text' }
  ? string
  : One extends { readonly type: 'integer' | 'duration' | 'time' }
    ? number
    : One extends { readonly type: 'choice'; readonly words: readonly (infer Word)[] }
      ? WordOf<Word, One>
      : One extends { readonly type: 'backoff' }
        ? Backoff
        : One extends { readonly type: 'keep' }
          ? Keep
          : One extends { readonly type: 'record'; readonly fields: infer Fields extends RecordKind['fields'] }
            ? RecordOf<Fields>
            : One extends { readonly type: 'tiers'; readonly of: infer Of extends RecordKind }
              ? Readonly<Record<string, ValueOf<Of>>>
              : One extends { readonly type: 'boolean' }
                ? boolean
                : never

/** A word that stands for absence is null. */
type WordOf<Word, One extends Kind> = One extends { readonly absence: infer Absence } ? Exclude<Word, Absence> | null : Word

type RecordOf<Fields extends RecordKind['fields']> = {
  readonly [Name in Filled<Fields>]: ValueOf<Fields[Name]['kind']>
} & { readonly [Name in Exclude<keyof Fields, Filled<Fields>>]?: ValueOf<Fields[Name]['kind']> }

/** The fields that a checked record has always. */
type Filled<Fields extends RecordKind['fields']> = {
  [Name in keyof Fields]: Fields[Name] extends { readonly required: true } | { readonly otherwise: number | string } ? Name : never
}[keyof Fields]

export const NAME = { type: 'name' } as const satisfies Kind

export const integer = (min: number, max: number) => ({ type: 'integer', min, max }) as const satisfies Kind

/** One of some words, of which `absence` stands for the absence of a value. */
export const choice = <const Words extends readonly string[], const Absence extends Words[number]>(words: Words, absence: Absence) =>
  ({ type: 'choice', words, absence }) as const satisfies Kind

export const record = <const Fields extends RecordKind['fields']>(fields: Fields, more: Pick<RecordKind, 'notation' | 'some'> = {}) =>
  ({ type: 'record', fields, ...more }) as const satisfies Kind

/** Returns the rows of a change, and of an answer: what is left out of these has no preset. */
export function withoutPresets<One extends Row>(rows: Readonly<Record<string, One>>): Readonly<Record<string, One>> {
  return Object.fromEntries(Object.entries(rows).map(([name, { preset: _preset, ...row }]) => [name, row as One]))
}

/** Returns the checks of a noun's options. */
export function checksOf<const Rows extends Readonly<Record<string, Row>>>(
  rows: Rows,
): { readonly [Name in keyof Rows]: Check<ValueOf<Rows[Name]['kind']>> } {
  return Object.fromEntries(Object.entries(rows).map(([name, { kind }]) => [name, checkOf(kind)])) as never
}

/** The same for a noun's settings, each of which null removes. */
export function settingChecksOf<const Rows extends Readonly<Record<string, Row>>>(
  rows: Rows,
): { readonly [Name in keyof Rows]: Check<ValueOf<Rows[Name]['kind']> | null> } {
  return Object.fromEntries(Object.entries(rows).map(([name, { kind }]) => [name, orNull(checkOf(kind))])) as never
}

/** Returns the check of a kind. Its errors are OptionTypeError and OptionRangeError. */
export function checkOf<One extends Kind>(kind: One): Check<ValueOf<One>> {
  return checkOfKind(kind) as Check<ValueOf<One>>
}

function checkOfKind(kind: Kind): Check<unknown> {
  switch (kind.type) {
    case 'name':
      return nameOption
    case 'text':
      return (option, value) => textOption(option, value, kind.max)
    case 'integer':
      return (option, value) => integerOption(option, value, kind.min, kind.max)
    case 'duration':
      return durationCheck(kind)
    case 'choice':
      return (option, value) => {
        const word = choiceOption(option, value, kind.words)
        return word === kind.absence ? null : word
      }
    case 'boolean':
      return booleanOption
    case 'time':
      return timeOption
    case 'cron':
      return cronOption
    case 'zone':
      return zoneOption
    case 'backoff':
      return backoffOption
    case 'keep':
      return (option, value) => keepOption(option, value, kind.preset)
    case 'record':
      return recordCheck(kind)
    case 'tiers':
      return tiersCheck(recordCheck(kind.of))
  }
}

function durationCheck({ min, max = LIMITS.durationMs, endless, forever }: DurationKind): Check<number> {
  const bounds = { min, max, infinity: endless !== undefined, forever: forever === true }
  const most = endless === 'capped' ? max : Number.POSITIVE_INFINITY
  return (option, value) => Math.min(most, durationOption(option, value, bounds))
}

function recordCheck({ fields, some }: RecordKind): Check<object> {
  const known = new Set(Object.keys(fields))
  const checks = Object.entries(fields).map(([name, field]) => ({ ...field, name, check: checkOfKind(field.kind) }))
  return (option, value) => {
    checkKnown(option, value, known)
    const read: Record<string, unknown> = {}
    for (const { name, check, required, otherwise } of checks) {
      if (value[name] !== undefined || required) read[name] = check(`${option}.${name}`, value[name])
      else if (otherwise !== undefined) read[name] = typeof otherwise === 'string' ? read[otherwise] : otherwise
    }
    if (some !== undefined && Object.keys(read).length === 0) throw new OptionTypeError(option, `${option} must have ${some}`)
    return read
  }
}

/** Limits by the name of a tier of keys. No tiers are as none. */
function tiersCheck(tier: Check<object>): Check<object | null> {
  return (option, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new OptionTypeError(option, `${option} must be an object with a tier for each name, got ${describe(value)}`)
    const { length } = Object.keys(value)
    if (length > LIMITS.keyTiers)
      throw new OptionRangeError(
        option,
        LIMITS.keyTiers,
        `${option} must have at most ${LIMITS.keyTiers} tiers, got ${length}: put more keys into each`,
      )
    if (length === 0) return null
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [tierName(option, name), tier(`${option}.${name}`, one)]))
  }
}

function tierName(option: string, name: string): string {
  if (name.includes(':'))
    throw new OptionTypeError(
      option,
      `${option} has the tier '${shortened(name)}': the name of a tier has no colon, because it ends at the first one of a key`,
    )
  if (UNSAFE_KEYS.has(name))
    throw new OptionTypeError(option, `${option} has the tier '${shortened(name)}', which no map may have for a key: give it another name`)
  return nameOption(`${option}: the name of a tier`, name)
}
