/** Reads an object of options by a table that has the name of each option and its check. */
import { choiceOption } from './choice.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { type DurationBounds, durationOption } from './milliseconds.ts'

/** Returns what the value means. `option` is the name in messages. @throws OptionTypeError, OptionRangeError */
export type Check<Value> = (option: string, value: unknown) => Value

/** The options that were set, checked. */
export type Read<Checks> = { -readonly [Name in keyof Checks]?: Checks[Name] extends Check<infer Value> ? Value : never }

/**
 * Returns a function that reads the options of `call`: it refuses unknown ones, and checks those that are set, in the order of the
 * table. `within` precedes their names in messages. `example` shows how to write them.
 */
export function optionsReader<Checks extends Readonly<Record<string, Check<unknown>>>>(
  call: string,
  checks: Checks,
  { within = '', example }: { readonly within?: string; readonly example?: string } = {},
): (options: unknown) => Read<Checks> {
  const known = new Set(Object.keys(checks))
  const table = Object.entries(checks)
  return (options) => {
    checkKnown(call, options, known, example)
    const read: Record<string, unknown> = {}
    for (const [name, check] of table) if (options[name] !== undefined) read[name] = check(`${within}${name}`, options[name])
    return read as Read<Checks>
  }
}

/** A whole number from `min` to `max`. */
export function integerBetween(min: number, max: number): Check<number> {
  return (option, value) => integerOption(option, value, min, max)
}

/** A duration within bounds, in milliseconds. */
export function durationWithin(bounds: DurationBounds): Check<number> {
  return (option, value) => durationOption(option, value, bounds)
}

/** One of some words. */
export function choiceOf<const Choice extends string>(choices: readonly Choice[]): Check<Choice> {
  return (option, value) => choiceOption(option, value, choices)
}

/** The same, or null. */
export function orNull<Value>(check: Check<Value>): Check<Value | null> {
  return (option, value) => (value === null ? null : check(option, value))
}
