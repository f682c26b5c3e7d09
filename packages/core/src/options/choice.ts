/** Options that take one of some words. */
import { OptionTypeError } from '../errors.ts'
import { describe } from './describe.ts'
import { choiceMeant } from './synonyms.ts'

export function choiceOption<const Choice extends string>(option: string, value: unknown, choices: readonly Choice[]): Choice {
  if (choices.includes(value as Choice)) return value as Choice
  const meant = typeof value === 'string' ? choiceMeant(value, choices) : undefined
  const hint = meant === undefined ? '' : `; did you mean '${meant}'?`
  if (meant !== undefined && choices.length > LISTED_MAX)
    throw new OptionTypeError(option, `${option} ${describe(value)} is unknown${hint}`)
  throw new OptionTypeError(
    option,
    `${option} must be ${choices.map((choice) => `'${choice}'`).join(' or ')}, got ${describe(value)}${hint}`,
  )
}

/** The number of choices that a message lists: of more, it names only the closest one. */
const LISTED_MAX = 8

export function booleanOption(option: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw new OptionTypeError(option, `${option} must be true or false, got ${describe(value)}`)
  return value
}
