/** Reads the turns of the journal by cursor, and how far it goes back. */
import type { JournalExtent } from '@millrace/core'
import { JOURNAL_ROW_BYTES, prepareExtent, type RawEnds, type RawTurn, type TurnsAfter, turnFrom } from '@millrace/sql'
import type { Connection } from '../connection.ts'
import type { LowWaterMarks } from '../lowWaterMarks.ts'

/** The turns of one read. */
const TURNS = 64

/** Yields the turns that have events after the given one, in order. */
export function prepareTurnsAfter(connection: Connection): TurnsAfter {
  // The row that holds `after` may hold later ones too.
  const sql = `SELECT first_event, at, count, packed FROM journal WHERE count > 0
AND first_event >= coalesce((SELECT max(first_event) FROM journal WHERE count > 0 AND first_event <= $1), 0) ORDER BY first_event LIMIT ${TURNS}`
  return function* (after) {
    for (let behind = after; ; ) {
      const rows = connection.all<RawTurn>(sql, behind)
      for (const turn of rows.map(turnFrom)) {
        const { firstEvent, count } = turn
        if (firstEvent + count - 1 <= behind) continue
        yield turn
        behind = firstEvent + count - 1
      }
      if (rows.length < TURNS) return
    }
  }
}

export function prepareJournal(connection: Connection, marks: LowWaterMarks): (at: number) => JournalExtent {
  const ends = `SELECT first.first_event, first.at, first.count, last.first_event, last.bytes - first.bytes + length(first.packed) + ${JOURNAL_ROW_BYTES},
(SELECT min(turn) FROM journal WHERE turn >= $2)
FROM (SELECT * FROM journal WHERE count > 0 AND first_event >= $1 ORDER BY first_event LIMIT 1) AS first
CROSS JOIN (SELECT * FROM journal WHERE count > 0 ORDER BY first_event DESC LIMIT 1) AS last`
  const extentOf = prepareExtent(connection.prepare)
  return (at) => {
    const { event, turn } = marks.journal
    const found = connection.get<[...RawEnds, firstTurn: number]>(ends, event, turn)
    if (found === undefined) return extentOf(undefined, at)
    const [first, firstAt, count, last, bytes, firstTurn] = found
    marks.journal = { turn: firstTurn, event: first }
    return extentOf([first, firstAt, count, last, bytes], at)
  }
}
