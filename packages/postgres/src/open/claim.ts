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

const CLAIM = `INSERT INTO journal (turn, epoch, at, next_seq, next_event, next_session, first_event, count, bytes, packed)
SELECT turn + 1, epoch + 1, greatest($1::bigint, at), next_seq, next_event, next_session, next_event, 0, bytes, '' FROM (
  SELECT * FROM journal ORDER BY turn DESC LIMIT 1
) AS last WHERE $2::bigint IS NULL OR last.epoch = $2
RETURNING turn, epoch, (SELECT node FROM meta)`

/**
 * @param former the epoch that the claim must follow; undefined for any
 * @throws StoreFailure, if the last turn is of another epoch than the former one
 */
export function claim(connection: Connection, at: number, former?: number): Claim {
  for (let tries = 1; ; tries++) {
    const { rows, error } = connection.attempt({ text: CLAIM, values: [at, former ?? null] })
    // A turn of the former owner was first: the next claim follows it.
    if (error !== undefined && isLost(error) && tries < TRIES_MAX) continue
    if (error !== undefined) throw failureOf(error)
    const claimed = rows[0]?.[0] as [turn: number, epoch: number, node: number] | undefined
    if (claimed === undefined) throw new StoreFailure('before', 'owner', 'another engine has taken the schema over')
    const [turn, epoch, node] = claimed
    return { turn, epoch, node }
  }
}
