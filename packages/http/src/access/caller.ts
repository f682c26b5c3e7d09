/** A caller: the name that `audit` shows, and the allowed scopes. No route needs the scope `work`: workers attach over the socket. */
import type { Scope } from '@millrace/core'

/** The scope that an operation needs, or `any`: every token will do. */
export type Demand = Scope | 'any'

/** The name behind a token, and its scopes. */
export interface Caller {
  readonly name: string
  readonly scopes: readonly Scope[]
}
