/** What the daemon keeps beside its jobs: tokens, endpoints, and who has changed what. */
import { Audit, type AuditEntry } from './audit.ts'
import { type ControlDatabase, openDatabase } from './database.ts'
import { Endpoints } from './endpoints.ts'
import { type Holder, type Surroundings, type TokenOptions, Tokens, type TokenView } from './tokens.ts'

/** Where it is, for a queue's file. */
export function controlFileOf(file: string): string {
  return file === ':memory:' ? file : `${file}-control`
}

export class Control {
  readonly endpoints: Endpoints
  readonly #db: ControlDatabase
  readonly #tokens: Tokens
  readonly #audit: Audit
  readonly #listeners = new Set<() => void>()
  #version: number

  constructor(file: string, surroundings: Surroundings) {
    this.#db = openDatabase(controlFileOf(file))
    this.#version = this.#db.version()
    this.#tokens = new Tokens(this.#db, surroundings, () => this.#tell())
    this.#audit = new Audit(this.#db)
    this.endpoints = new Endpoints(this.#db)
  }

  /** A text for a token, of nobody yet. */
  newToken(): string {
    return this.#tokens.newText()
  }

  /** @throws OptionTypeError, OptionRangeError, TokenExistsError */
  createToken(options: TokenOptions, text?: string): { readonly token: string; readonly view: TokenView } {
    return this.#tokens.create(options, text)
  }

  listTokens(): readonly TokenView[] {
    return this.#tokens.list()
  }

  /** In force at once. @throws TokenNotFoundError */
  revokeToken(idOrName: string): TokenView {
    return this.#tokens.revoke(idOrName)
  }

  /** Who a token is; undefined where it is not known, or was revoked, by whichever process. */
  authenticate(token: string): Holder | undefined {
    return this.#tokens.authenticate(token)
  }

  /** Whether there ever was a token. */
  get hasTokens(): boolean {
    return this.#tokens.any
  }

  /** Resolves when the entry is on the disk. */
  audit(entry: AuditEntry): Promise<void> {
    return this.#audit.add(entry)
  }

  /** The entries are on the disk when it returns. */
  auditNow(entries: readonly AuditEntry[]): void {
    this.#audit.addNow(entries)
  }

  /** The newest entries, newest first. */
  audited(limit: number): readonly AuditEntry[] {
    return this.#audit.newest(limit)
  }

  /** Told after tokens have changed, here or, once `look` has seen it, elsewhere. Answers what ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Looks whether another process has written. */
  look(): void {
    const version = this.#db.version()
    if (version === this.#version) return
    this.#version = version
    this.#tell()
  }

  close(): void {
    this.#audit.flush()
    this.#db.close()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
