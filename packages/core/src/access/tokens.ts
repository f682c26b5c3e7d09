/** Tokens as options. None is ever told in a message. */
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { checkKnown } from '../options/known.ts'
import { type Scope, scopesOption } from './scopes.ts'

const TOKENS_MAX = 64
const LENGTH_MIN = 16
const LENGTH_MAX = 512

/** A token that is known, and what was said with it. */
export interface GivenToken {
  readonly token: string
  readonly scopes: readonly Scope[]
  /** What it is as an option: `token`, or `token[0]`. */
  readonly option: string
  /** All that was said of it; nothing of one that is a text alone. */
  readonly item: Readonly<Record<string, unknown>>
}

/** A text of 16 to 512 characters. */
export function tokenOption(option: string, value: unknown): string {
  if (typeof value !== 'string') throw new OptionTypeError(option, `${option} must be a string, got ${typeof value}`)
  if (value.length >= LENGTH_MIN && value.length <= LENGTH_MAX) return value
  throw new OptionRangeError(
    option,
    value.length < LENGTH_MIN ? LENGTH_MIN : LENGTH_MAX,
    `${option} must have ${LENGTH_MIN} to ${LENGTH_MAX} characters, got ${value.length}: make one of 32 random bytes as base64url`,
  )
}

/** One that a header of HTTP can carry, too. */
export function headerTokenOption(option: string, value: unknown): string {
  const token = tokenOption(option, value)
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new OptionTypeError(option, `${option} must be ASCII without spaces, or no header can carry it: make one of base64url`)
}

/** The option `token` of whoever serves: a text that allows everything, or up to 64 of `{ token, scopes }` and of what else is `known`. */
export function tokensOption(value: unknown, known: readonly string[] = []): readonly GivenToken[] {
  if (!Array.isArray(value))
    return [{ token: tokenOption('token', value), scopes: scopesOption('token', undefined), option: 'token', item: {} }]
  const keys = ['token', 'scopes', ...known]
  if (value.length === 0 || value.length > TOKENS_MAX) {
    throw new OptionRangeError(
      'token',
      value.length === 0 ? 1 : TOKENS_MAX,
      `token must be a string or 1 to ${TOKENS_MAX} of { ${keys.join(', ')} }, got ${value.length}: leave out those that nobody uses`,
    )
  }
  return value.map((item: unknown, index) => {
    const option = `token[${index}]`
    checkKnown(option, item, new Set(keys))
    return { token: tokenOption(`${option}.token`, item['token']), scopes: scopesOption(`${option}.scopes`, item['scopes']), option, item }
  })
}
