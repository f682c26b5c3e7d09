/** Who a token is. Tokens are kept as digests alone, and compared in a time that says nothing about them. */
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
    // Every one is looked at, whichever it is.
    for (const one of known) if (timingSafeEqual(digest, one.digest)) found = one.caller
    return found
  }
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
