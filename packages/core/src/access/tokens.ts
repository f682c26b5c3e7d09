/** Reads tokens from options. No message ever contains a token. */
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { checkKnown } from '../options/known.ts'
import { type Scope, scopesOption } from './scopes.ts'

const TOKENS_MAX = 64
const LENGTH_MIN = 16
const LENGTH_MAX = 512

/** A configured token, and what was given with it. */
export interface GivenToken {
  readonly token: string
  readonly scopes: readonly Scope[]
  /** The name of the token's option: `token` or `token[0]`. */
  readonly option: string
  /** The whole item as it was given; empty if the token is a plain string. */
  readonly item: Readonly<Record<string, unknown>>
}

/** Returns a token: a string of 16 to 512 characters. */
export function tokenOption(option: string, value: unknown): string {
  if (typeof value !== 'string') throw new OptionTypeError(option, `${option} must be a string, got ${typeof value}`)
  if (value.length >= LENGTH_MIN && value.length <= LENGTH_MAX) return value
  throw new OptionRangeError(
    option,
    value.length < LENGTH_MIN ? LENGTH_MIN : LENGTH_MAX,
    `${option} must have ${LENGTH_MIN} to ${LENGTH_MAX} characters, got ${value.length}: make one of 32 random bytes as base64url`,
  )
}

/** Returns a token that an HTTP header can carry, too. */
export function headerTokenOption(option: string, value: unknown): string {
  const token = tokenOption(option, value)
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new OptionTypeError(option, `${option} must be ASCII without spaces, or no header can carry it: make one of base64url`)
}

/** Reads a server's option `token`: a string that allows everything, or 1 to 64 items of `{ token, scopes }` and the `known` keys. */
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
