/** Reads the turns of the journal by cursor. */
import { type RawTurn, type TurnsAfter, turnFrom } from '@millrace/sql'
import type { Database } from '../driver.ts'

export function prepareTurnsAfter(db: Database): TurnsAfter {
  // The row that holds `after` may hold later ones too.
  const rows = db
    .prepare(
      `SELECT first_event, at, count, packed FROM journal
WHERE first_event >= coalesce((SELECT max(first_event) FROM journal WHERE first_event <= ?), 0) ORDER BY first_event`,
    )
    .raw()
  return function* (after) {
    for (const raw of rows.iterate(after) as Iterable<RawTurn>) {
      const turn = turnFrom(raw)
      if (turn.firstEvent + turn.count - 1 > after) yield turn
    }
  }
}
