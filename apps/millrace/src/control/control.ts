/** The data that the daemon keeps beside its jobs: tokens, endpoints, secrets, what configurations have set, and the audit of changes. */
import { AuditUnavailableError } from '@millrace/core'
import { Audit, type AuditEntry } from './audit.ts'
import { type ConfiguredRow, type ControlDatabase, openDatabase } from './database.ts'
import { Endpoints } from './endpoints.ts'
import { type Holder, type Surroundings, type TokenOptions, Tokens, type TokenView } from './tokens.ts'

/** Returns the path of the control database for a queue's file. */
export function controlFileOf(file: string): string {
  return file === ':memory:' ? file : `${file}-control`
}

const SECRET_BYTES = 32
/** The ended sessions that are remembered. Beyond it, the token with the most gives up its first, so that it brings back no other's. */
const SESSIONS_ENDED = 10_000

export class Control {
  readonly endpoints: Endpoints
  readonly #db: ControlDatabase
  readonly #tokens: Tokens
  readonly #audit: Audit
  readonly #surroundings: Surroundings
  readonly #listeners = new Set<() => void>()
  #version: number
  #isProven = false

  constructor(file: string, surroundings: Surroundings) {
    this.#db = openDatabase(controlFileOf(file))
    this.#version = this.#db.version()
    this.#surroundings = surroundings
    this.#tokens = new Tokens(this.#db, surroundings, () => this.#tell())
    this.#audit = new Audit(this.#db)
    this.endpoints = new Endpoints(this.#db)
  }

  /** Returns a new token string that belongs to nobody yet. */
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

  /** Revokes a token with immediate effect. @throws TokenNotFoundError */
  revokeToken(idOrName: string): TokenView {
    return this.#tokens.revoke(idOrName)
  }

  /** Returns the holder of a token; undefined if it is unknown, or if any process has revoked it. */
  authenticate(token: string): Holder | undefined {
    return this.#tokens.authenticate(token)
  }

  /** True if there ever was a token. */
  get hasTokens(): boolean {
    return this.#tokens.any
  }

  /** Returns the secret of that name: the same after a restart, and in every process that has the file. Its first use creates it. */
  secret(name: string): Uint8Array {
    const { one, add } = this.#db.secrets
    const kept = one.get(name)
    if (kept !== undefined) return kept.value
    const value = this.#surroundings.randomBytes(SECRET_BYTES)
    this.#db.write(() => add.run(name, value))
    return this.secret(name)
  }

  /** Notes that a session of a browser has ended, for every process that has the file. */
  endSession(id: string, until: Date): void {
    const { end, forget } = this.#db.sessions
    this.#db.write(() => {
      end.run(id, until.getTime())
      forget.run(this.#surroundings.now(), SESSIONS_ENDED)
    })
  }

  isEnded(id: string): boolean {
    return this.#db.sessions.isEnded.get(id) !== undefined
  }

  /** Returns the entries of a section that configurations have set, at this start or an earlier one. */
  configured(section: string): readonly ConfiguredRow[] {
    return this.#db.configured.all.all(section)
  }

  /** Remembers entries that a configuration has set, and forgets others. */
  rememberConfigured(set: readonly ConfiguredRow[], gone: readonly ConfiguredRow[]): void {
    this.#db.write(() => {
      for (const row of gone) this.#db.configured.delete.run(row)
      for (const row of set) this.#db.configured.save.run(row)
    })
  }

  /** Adds an entry. Resolves when it is on disk. */
  audit(entry: AuditEntry): Promise<void> {
    return this.#audit.add(entry)
  }

  /** Adds entries. They are on disk when it returns. */
  auditNow(entries: readonly AuditEntry[]): void {
    this.#audit.addNow(entries)
  }

  /** Returns the newest entries, newest first. */
  audited(limit: number): readonly AuditEntry[] {
    return this.#audit.newest(limit)
  }

  /**
   * Proves by a write that the audit can take an entry. Calls of one tick share the write.
   *
   * @throws AuditUnavailableError
   */
  assertAuditable(): void {
    if (this.#isProven) return
    try {
      this.#db.probe()
    } catch (error) {
      const { message } = error as Error
      throw new AuditUnavailableError(
        `the call cannot be audited, so it was refused: ${message}. Jobs run, and reads are answered; millrace doctor shows what is wrong`,
        {},
        { cause: error },
      )
    }
    this.#isProven = true
    setImmediate(() => {
      this.#isProven = false
    })
  }

  /** Returns why nothing can be written, as the last write or look has found it; undefined if it could be. */
  get fault(): Error | undefined {
    return this.#db.fault()
  }

  /** Calls the listener after tokens have changed here, or after `look` has seen a change elsewhere. Returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /**
   * Checks whether another process has written, and notifies the listeners if so. After a failed write, it tries another one.
   *
   * @throws OwnerLostError if the file was taken away; the error of SQLite
   */
  look(): void {
    this.#db.assertThere()
    if (this.#db.fault() !== undefined) this.#db.probe()
    const version = this.#db.version()
    if (version === this.#version) return
    this.#version = version
    this.#tell()
  }

  close(): void {
    try {
      this.#audit.flush()
    } finally {
      this.#db.close()
    }
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
