/** What a token may allow: the same four words as on the socket. */

export const SCOPES = ['enqueue', 'work', 'read', 'admin'] as const

/** No route needs `work`: workers attach over the socket. */
export type Scope = (typeof SCOPES)[number]

/** Who calls, as `audit` tells it, and what they may do. */
export interface Caller {
  readonly name: string
  readonly scopes: readonly Scope[]
}
