/** One of some words. */
import { OptionTypeError } from '../errors.ts'
import { describe } from './describe.ts'
import { nearest } from './nearest.ts'

export function choiceOption<const Choice extends string>(option: string, value: unknown, choices: readonly Choice[]): Choice {
  if (choices.includes(value as Choice)) return value as Choice
  const meant = typeof value === 'string' ? nearest(value, choices) : undefined
  const hint = meant === undefined ? '' : `; did you mean '${meant}'?`
  throw new OptionTypeError(option, `${option} is ${choices.map((choice) => `'${choice}'`).join(' or ')}, not ${describe(value)}${hint}`)
}

export function booleanOption(option: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw new OptionTypeError(option, `${option} is true or false, not ${describe(value)}`)
  return value
}
