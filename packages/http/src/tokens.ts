/** The tokens and the audit that the API manages, if they are kept by the program that serves it. */
import type { Audited, Scope } from '@millrace/core'

/** The settings of a token to create. */
export interface NewToken {
  readonly name: string
  readonly scopes?: readonly Scope[]
  readonly names?: readonly string[]
  readonly queues?: readonly string[]
}

/** The facts of a token, without the token. */
export interface TokenFacts {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly names?: readonly string[] | undefined
  readonly queues?: readonly string[] | undefined
  readonly createdAt: Date
  readonly lastUsedAt?: Date | undefined
  readonly revokedAt?: Date | undefined
}

/** An entry of the audit. */
export interface AuditedCall extends Audited {
  readonly via: 'http' | 'socket'
  readonly status?: number
  readonly code?: string
}

/** The store of tokens and of the audit that the API requires. */
export interface TokenStore {
  /** Returns all tokens that ever existed, the oldest first. */
  list(): readonly TokenFacts[]
  /** Creates a token. It is returned this once. @throws an error with the code TOKEN_EXISTS */
  create(token: NewToken): { readonly token: string; readonly view: TokenFacts }
  /** Revokes a token with immediate effect. @throws an error with the code TOKEN_NOT_FOUND */
  revoke(id: string): TokenFacts
  /**
   * Calls the listener after tokens have changed, and returns a function that removes it. Streams of revoked tokens then end at once.
   * Without it, they end within 15 seconds.
   */
  onChange?(listener: () => void): () => void
  /** Notes that the session with this id has ended, until its cookie expires. Without it, only this process knows, until it ends. */
  endSession?(id: string, until: Date): void
  /** True if a session was noted as ended, by any process. Required with `endSession`. */
  isEnded?(id: string): boolean
  /** Returns the newest calls of the audit, newest first. */
  audited(limit: number): readonly AuditedCall[]
}
