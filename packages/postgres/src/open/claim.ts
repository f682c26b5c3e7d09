/** Makes the schema this engine's, by a turn that begins an epoch: no turn of another epoch follows it. */
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

export function claim(connection: Connection, at: number): Claim {
  for (let tries = 1; ; tries++) {
    const { rows, error } = connection.attempt({
      text: `INSERT INTO journal (turn, epoch, at, next_seq, next_event, next_session, first_event, count, bytes, packed)
SELECT turn + 1, epoch + 1, $1::bigint, next_seq, next_event, next_session, next_event, 0, bytes, '' FROM journal ORDER BY turn DESC LIMIT 1
RETURNING turn, epoch, (SELECT node FROM meta)`,
      values: [at],
    })
    if (error !== undefined && (!isLost(error) || tries === TRIES_MAX)) throw failureOf(error)
    const [turn, epoch, node] = (rows[0]?.[0] ?? []) as [number?, number?, number?]
    if (turn !== undefined && epoch !== undefined && node !== undefined) return { turn, epoch, node }
  }
}
