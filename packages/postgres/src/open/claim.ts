/** Makes the schema this engine's, by a turn that begins an epoch: no turn of another epoch follows it. */
import { StoreFailure } from '@millrace/core/kernel'
import type { Connection } from '../connection.ts'
import { failureOf, isLost } from '../failure.ts'

export interface Claim {
  readonly epoch: number
  readonly node: number
  /** The turn that is the claim. */
  readonly turn: number
}

/** Former owners may still take turns while it is tried. */
const TRIES_MAX = 100

/**
 * Claims the schema, whoever had it.
 *
 * @param freshNode the schema's number if the server has become another one: it may have lost jobs whose ids are known
 * @throws StoreFailure
 */
export function claim(connection: Connection, at: number, freshNode: number): Claim {
  return claimed(connection, [at, null, freshNode])
}

/** Claims the schema behind an epoch of one's own. @throws StoreFailure, if there was another epoch since, or the server is another one */
export function claimAgain(connection: Connection, at: number, former: number): Claim {
  return claimed(connection, [at, former, null])
}

function claimed(connection: Connection, values: readonly [at: number, former: number | null, freshNode: number | null]): Claim {
  for (let tries = 1; ; tries++) {
    const { rows, error } = connection.attempt({ text: 'SELECT * FROM claim($1, $2, $3)', values })
    // A turn of the former owner was first: the next claim follows it.
    if (error !== undefined && isLost(error) && tries < TRIES_MAX) continue
    if (error !== undefined) throw failureOf(error)
    const row = rows[0]?.[0] as [turn: number, epoch: number, node: number] | undefined
    if (row === undefined)
      throw new StoreFailure(
        'before',
        'owner',
        'another engine has taken the schema over, or another server has taken the place of this one',
      )
    const [turn, epoch, node] = row
    return { turn, epoch, node }
  }
}
