/** Finds the caller of a token. Only digests of tokens are kept, and the time of a comparison reveals nothing about them. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Scope } from '@millrace/core'
import type { Caller } from './caller.ts'

export interface KnownToken {
  readonly name: string
  readonly token: string
  readonly scopes: readonly Scope[]
}

export function tokenReader(tokens: readonly KnownToken[]): (token: string) => Caller | undefined {
  const known = tokens.map(({ name, token, scopes }) => ({ digest: digestOf(token), caller: { name, scopes } }))
  return (token) => {
    const digest = digestOf(token)
    let found: Caller | undefined
    // All of them are compared, even after a match.
    for (const one of known) if (timingSafeEqual(digest, one.digest)) found = one.caller
    return found
  }
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
