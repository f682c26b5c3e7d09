/** Who may do what. A token is told once, when it is made; its SHA-256 digest alone is kept. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { nameOption, type Permit, permitOption, type Scope } from '@millrace/core'
import type { ControlDatabase, TokenRow } from './database.ts'
import { TokenExistsError, TokenNotFoundError } from './errors.ts'

/** Who a token is, and what it allows. */
export interface Holder extends Permit {
  readonly name: string
}

export interface TokenView {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Undefined: every job name. */
  readonly names: readonly string[] | undefined
  /** Undefined: every queue. */
  readonly queues: readonly string[] | undefined
  readonly createdAt: Date
  /** To the minute; undefined where it was never used. */
  readonly lastUsedAt: Date | undefined
  readonly revokedAt: Date | undefined
}

export interface TokenOptions {
  /** What the audit and the logs know it by: 1 to 128 of `A-Z a-z 0-9 _ . : / -`, one of those in use. */
  readonly name: string
  /** Default all of them. */
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

/** A use is noted no more often. */
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

  /** A text for a token: 32 random bytes. */
  newText(): string {
    return `mr_${this.#surroundings.randomBytes(32).toString('base64url')}`
  }

  /** @param text what the token is; made up unless it is given */
  create({ name, scopes, names, queues }: TokenOptions, text = this.newText()): { readonly token: string; readonly view: TokenView } {
    const permit = permitOption('', { scopes, names, queues })
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

  /** All that there ever were, the oldest first. */
  list(): readonly TokenView[] {
    return this.#db.tokens.all.all().map(viewOf)
  }

  /** Whether there ever was one. */
  get any(): boolean {
    return this.#db.tokens.any.get()?.found === 1
  }

  /** In force at once, here and in every other process. @throws TokenNotFoundError */
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

  /** Who it is; undefined for a token that is not known, or was revoked. Asks the file each time. */
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
      // Whoever has a good token is let in, whether or not that can be noted just now.
      if (!String((error as { code?: unknown }).code).startsWith('SQLITE_')) throw error
    }
  }
}

export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
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
