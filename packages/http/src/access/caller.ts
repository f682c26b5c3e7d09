/** Who calls, as `audit` tells it, and what they may do. No route needs the scope `work`: workers attach over the socket. */
import type { Scope } from '@millrace/core'

export interface Caller {
  readonly name: string
  readonly scopes: readonly Scope[]
}
