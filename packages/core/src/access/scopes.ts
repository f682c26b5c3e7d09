/** The scopes that a token may have: the same five words over sockets and over HTTP. */
import { OptionTypeError } from '../errors.ts'
import { describe } from '../options/describe.ts'

/** Their order is that of their numbers on the wire. */
export const SCOPES = ['enqueue', 'work', 'read', 'admin', 'send'] as const

/** A right that a token can have. */
export type Scope = (typeof SCOPES)[number]

/** Returns the given scopes in the order of SCOPES, or all of them if none are given. */
export function scopesOption(option: string, value: unknown): readonly Scope[] {
  if (value === undefined) return SCOPES
  if (!Array.isArray(value) || value.length === 0 || !value.every((scope) => SCOPES.includes(scope))) {
    throw new OptionTypeError(option, `${option} must be some of ${SCOPES.join(', ')}, got ${given(value)}`)
  }
  return SCOPES.filter((scope) => value.includes(scope))
}

function given(value: unknown): string {
  return Array.isArray(value) && value.length > 0 ? value.map(describe).join(', ') : Array.isArray(value) ? 'none' : describe(value)
}
