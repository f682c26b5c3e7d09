/** Tokens and what they allow. A token is shown once, when it is created. Only its SHA-256 digest is stored. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { nameOption, OptionTypeError, type Permit, permitOption, type Scope } from '@millrace/core'
import type { ControlDatabase, TokenRow } from './database.ts'
import { TokenExistsError, TokenNotFoundError } from './errors.ts'

/** The holder of a token, and what the token allows. */
export interface Holder extends Permit {
  readonly name: string
}

export interface TokenView {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** The job names that are allowed; undefined for every name. */
  readonly names: readonly string[] | undefined
  /** The queues that are allowed; undefined for every queue. */
  readonly queues: readonly string[] | undefined
  readonly createdAt: Date
  /** The time of the last use, to the minute; undefined if it was never used. */
  readonly lastUsedAt: Date | undefined
  readonly revokedAt: Date | undefined
}

export interface TokenOptions {
  /** The name in the audit and the logs: 1 to 128 of `A-Z a-z 0-9 _ . : / -`, unique among the tokens in use, and neither `config` nor `anyone`. */
  readonly name: string
  /** The scopes of the token; default all of them. */
  readonly scopes?: readonly Scope[]
  /** Job names that its workers may serve; default every name. */
  readonly names?: readonly string[]
  /** Queues that its workers may serve; default every queue. */
  readonly queues?: readonly string[]
}

export interface Surroundings {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly randomBytes: (count: number) => Buffer
}

/** Names of callers that have no token of this store: the audit and the rate limits could not tell them apart. */
const RESERVED: ReadonlySet<string> = new Set(['config', 'anyone'])
/** The minimum time between two updates of `lastUsedAt`. */
const USED_MS = 60_000

export class Tokens {
  readonly #db: ControlDatabase
  readonly #surroundings: Surroundings
  readonly #changed: () => void

  constructor(db: ControlDatabase, surroundings: Surroundings, changed: () => void) {
    this.#db = db
    this.#surroundings = surroundings
    this.#changed = changed
  }

  /** Returns a new token string, from 32 random bytes. */
  newText(): string {
    return `mr_${this.#surroundings.randomBytes(32).toString('base64url')}`
  }

  /** @param text the token; generated unless it is given */
  create({ name, scopes, names, queues }: TokenOptions, text = this.newText()): { readonly token: string; readonly view: TokenView } {
    const permit = permitOption('', { scopes, names, queues })
    if (RESERVED.has(name))
      throw new OptionTypeError('name', `name must not be '${name}', which the daemon itself uses: choose another one`)
    const row: TokenRow = {
      id: this.#surroundings.randomBytes(6).toString('hex'),
      name: nameOption('name', name),
      sha256: digestOf(text),
      scopes: permit.scopes.join(' '),
      names: permit.names?.join(' ') ?? null,
      queues: permit.queues?.join(' ') ?? null,
      createdAt: this.#surroundings.now(),
      lastUsedAt: null,
      revokedAt: null,
    }
    this.#db.write(() => {
      if (this.#db.tokens.inUse.get(name, name) !== undefined) throw new TokenExistsError(name)
      this.#db.tokens.insert.run(row)
    })
    this.#changed()
    return { token: text, view: viewOf(row) }
  }

  /** Returns all tokens that ever existed, the oldest first. */
  list(): readonly TokenView[] {
    return this.#db.tokens.all.all().map(viewOf)
  }

  /** True if there ever was a token. */
  get any(): boolean {
    return this.#db.tokens.any.get()?.found === 1
  }

  /** Revokes a token with immediate effect, here and in every other process. @throws TokenNotFoundError */
  revoke(idOrName: string): TokenView {
    const revokedAt = this.#surroundings.now()
    const row = this.#db.write(() => {
      const found = this.#db.tokens.inUse.get(idOrName, idOrName)
      if (found === undefined) throw new TokenNotFoundError(idOrName)
      this.#db.tokens.revoke.run(revokedAt, found.id)
      return { ...found, revokedAt }
    })
    this.#changed()
    return viewOf(row)
  }

  /** Returns the holder of a token; undefined if it is unknown or was revoked. Reads the file each time. */
  authenticate(token: string): Holder | undefined {
    const digest = digestOf(token)
    const row = this.#db.tokens.byDigest.get(digest)
    if (row === undefined || !timingSafeEqual(row.sha256, digest)) return undefined
    this.#note(row)
    const { scopes, names, queues } = viewOf(row)
    return { name: row.name, scopes, ...(names !== undefined && { names }), ...(queues !== undefined && { queues }) }
  }

  #note({ id, lastUsedAt }: TokenRow): void {
    const now = this.#surroundings.now()
    if (lastUsedAt !== null && now - lastUsedAt < USED_MS) return
    try {
      this.#db.tokens.used.run(now, id)
    } catch (error) {
      // A valid token is accepted even if its use cannot be recorded just now.
      if (!String((error as { code?: unknown }).code).startsWith('SQLITE_')) throw error
    }
  }
}

export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/**
 * Returns the string with `[token]` in place of each token, for records that more people may read than may use it. A beginning counts
 * as one, too, if it is so long that what is missing could be guessed: a record may have been cut within a token.
 */
export function withoutTokens(text: string): string {
  return text.replace(/mr_[\w-]{22,43}/g, '[token]')
}

const listOf = (joined: string | null) => joined?.split(' ')

const dateOf = (at: number | null) => (at === null ? undefined : new Date(at))

function viewOf({ id, name, scopes, names, queues, createdAt, lastUsedAt, revokedAt }: TokenRow): TokenView {
  return {
    id,
    name,
    scopes: scopes.split(' ') as Scope[],
    names: listOf(names),
    queues: listOf(queues),
    createdAt: new Date(createdAt),
    lastUsedAt: dateOf(lastUsedAt),
    revokedAt: dateOf(revokedAt),
  }
}
