/** Who may do what. Tokens are kept as digests alone, and compared in a time that says nothing about them. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { SCOPES, type Scope } from '@millrace/core'
import type { Authenticate } from './options.ts'

export class Tokens {
  readonly #known: readonly { readonly digest: Buffer; readonly scopes: readonly Scope[] }[]

  readonly #authenticate: Authenticate | undefined

  /** @param authenticate in place of tokens that are known beforehand */
  constructor(tokens: readonly { readonly token: string; readonly scopes: readonly Scope[] }[], authenticate?: Authenticate) {
    this.#authenticate = authenticate
    this.#known = tokens.map(({ token, scopes }) => ({ digest: digestOf(token), scopes }))
  }

  /** What a token allows may change while its client is connected. */
  get change(): boolean {
    return this.#authenticate !== undefined
  }

  /** What the token allows; undefined where it is not known. Where no token is asked for, everything. */
  scopesOf(token: string | undefined): readonly Scope[] | undefined {
    if (this.#authenticate !== undefined) return token === undefined ? undefined : this.#authenticate(token)
    if (this.#known.length === 0) return SCOPES
    const digest = digestOf(token ?? '')
    let found: readonly Scope[] | undefined
    // Every one is looked at, whichever it is.
    for (const known of this.#known) if (timingSafeEqual(digest, known.digest)) found = known.scopes
    return token === undefined ? undefined : found
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
