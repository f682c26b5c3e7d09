/** Who may do what. Tokens are kept as digests alone, and compared in a time that says nothing about them. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { isThenable, OptionTypeError, SCOPES, type Scope, scopesOption } from '@millrace/core'
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

  /**
   * What the token allows; undefined where it is not known. Where no token is asked for, everything.
   *
   * @throws whatever `authenticate` throws; OptionTypeError where it answers neither scopes nor undefined.
   */
  scopesOf(token: string | undefined): readonly Scope[] | undefined {
    if (this.#authenticate !== undefined) return token === undefined ? undefined : scopesOf(this.#authenticate(token))
    if (this.#known.length === 0) return SCOPES
    const digest = digestOf(token ?? '')
    let found: readonly Scope[] | undefined
    // Every one is looked at, whichever it is.
    for (const known of this.#known) if (timingSafeEqual(digest, known.digest)) found = known.scopes
    return token === undefined ? undefined : found
  }
}

function scopesOf(answer: unknown): readonly Scope[] | undefined {
  if (answer === undefined || (Array.isArray(answer) && answer.length === 0)) return answer
  if (!isThenable(answer)) return scopesOption('the scopes that authenticate answers', answer)
  // Nobody waits for it: rejected, it would end the process.
  answer.then(undefined, () => {})
  throw new OptionTypeError('authenticate', 'authenticate is to answer at once, and not with a promise: keep at hand what it needs')
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
