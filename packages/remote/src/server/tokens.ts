/** The permits of tokens. Tokens are kept only as digests, and compared in a time that reveals nothing about them. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { isThenable, OptionTypeError, type Permit, permitOption, SCOPES, scopesOption } from '@millrace/core'
import type { Authenticate, KnownToken } from './options.ts'

/** The name of all clients of a server without tokens. */
export const ANYONE = 'anyone'

const EVERYTHING: Permit = { scopes: SCOPES, name: ANYONE }

export class Tokens {
  readonly #known: readonly { readonly digest: Buffer; readonly permit: Permit }[]

  readonly #authenticate: Authenticate | undefined

  /** @param authenticate replaces tokens that are known beforehand */
  constructor(tokens: readonly KnownToken[], authenticate?: Authenticate) {
    this.#authenticate = authenticate
    this.#known = tokens.map(({ token, permit }) => ({ digest: digestOf(token), permit }))
  }

  /** True if what a token allows may change while its client is connected. */
  get change(): boolean {
    return this.#authenticate !== undefined
  }

  /**
   * Returns what the token allows; undefined if it is unknown. If no token is required, everything is allowed.
   *
   * @throws whatever `authenticate` throws; OptionTypeError if it returns neither scopes, nor a permit, nor undefined.
   */
  permitOf(token: string | undefined): Permit | undefined {
    if (this.#authenticate !== undefined) return token === undefined ? undefined : permitOf(this.#authenticate(token))
    if (this.#known.length === 0) return EVERYTHING
    const digest = digestOf(token ?? '')
    let found: Permit | undefined
    // Every token is compared, whichever matches.
    for (const known of this.#known) if (timingSafeEqual(digest, known.digest)) found = known.permit
    return token === undefined ? undefined : found
  }

  /**
   * Returns a string that is the same for all connections of one token: what they open belongs to it. A token that `authenticate` names
   * may be renewed under its name. Undefined if no token is required.
   */
  ownerOf(token: string | undefined, { name }: Permit): string | undefined {
    if (this.#authenticate === undefined) return this.#known.length === 0 ? undefined : digestOf(token ?? '').toString('base64url')
    return name === undefined ? digestOf(token ?? '').toString('base64url') : `name ${name}`
  }
}

function permitOf(answer: unknown): Permit | undefined {
  if (answer === undefined) return undefined
  if (Array.isArray(answer)) return { scopes: answer.length === 0 ? [] : scopesOption(ANSWERED, answer) }
  if (!isThenable(answer)) return permitOption('authenticate.', permitLike(answer))
  // Nothing awaits the promise: a rejection would end the process.
  answer.then(undefined, () => {})
  throw new OptionTypeError('authenticate', 'authenticate must answer at once, got a promise: load what it needs before')
}

const ANSWERED = 'the scopes that authenticate answers'

/** Requires the answer to name its scopes: they do not default to all here. */
function permitLike(answer: unknown): Readonly<Partial<Record<keyof Permit, unknown>>> {
  const { scopes, name, names, queues } = typeof answer === 'object' && answer !== null ? (answer as Readonly<Record<string, unknown>>) : {}
  return { scopes: scopesOption(ANSWERED, scopes ?? answer), name, names, queues }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
