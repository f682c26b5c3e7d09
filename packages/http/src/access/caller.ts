/** A caller: the name that `audit` shows, and the allowed scopes. No route needs the scope `work`: workers attach over the socket. */
import { LIMITS, SCOPES, type Scope } from '@millrace/core'

/** The scope that an operation needs, or `any`: every token will do. */
export type Demand = Scope | 'any'

/** The name behind a token, and its scopes. */
export interface Caller {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Job names to which its scopes `work` and `send` are bound. Default every name. Tokens that it creates are bound to these, too. */
  readonly names?: readonly string[]
  /** Queues to which its scope `work` is bound. Default every queue. Tokens that it creates are bound to these, too. */
  readonly queues?: readonly string[]
}

/** The caller of an API without tokens. */
export const ANYONE: Caller = { name: 'anyone', scopes: SCOPES }

/** Returns the name that is stored with what the caller cancels or sends; none without tokens. */
export function namedBy(caller: Caller): { readonly by?: string } {
  return caller === ANYONE || caller.name === '' ? {} : { by: caller.name.slice(0, LIMITS.nameLength) }
}
