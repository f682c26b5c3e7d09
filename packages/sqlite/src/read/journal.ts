/** Reads how far the journal goes back, and how large it is. */

import type { JournalExtent } from '@millrace/core'
import { JOURNAL_ROW_BYTES } from '@millrace/sql'
import type { Database } from '../driver.ts'

type Turn = [firstEvent: number, at: number, count: number]

/**
 * Rows are in the order of their turns, so a time is found by binary search: an index by time would cost every turn a page, and
 * this is rarely needed. If the wall clock was set back, the result is one of the turns around.
 */
export function prepareJournal(db: Database): (at: number) => JournalExtent {
  const ends = db
    .prepare(
      `SELECT first.first_event, first.at, first.count, last.first_event, last.bytes - first.bytes + length(first.packed) + ${JOURNAL_ROW_BYTES}
FROM journal AS first CROSS JOIN journal AS last
WHERE first.first_event = (SELECT min(first_event) FROM journal) AND last.first_event = (SELECT max(first_event) FROM journal)`,
    )
    .raw()
  const turnAtOrBefore = db
    .prepare('SELECT first_event, at, count FROM journal WHERE first_event <= ? ORDER BY first_event DESC LIMIT 1')
    .raw()

  const lastBefore = (at: number, first: number, last: number): number => {
    let low = first
    let high = last
    let found = 0
    while (low <= high) {
      const middle = Math.floor((low + high) / 2)
      const [firstEvent, turnAt, count] = turnAtOrBefore.get(middle) as Turn
      if (turnAt < at) {
        found = firstEvent + count - 1
        // No other turn begins up to the middle.
        low = Math.max(firstEvent + count, middle + 1)
      } else {
        high = firstEvent - 1
      }
    }
    return found
  }

  return (at) => {
    const found = ends.get() as [number, number, number, number, number] | undefined
    if (found === undefined) return { firstEvent: 0, firstAt: 0, firstTurnEnd: 0, lastEvent: 0, bytes: 0 }
    const [first, firstAt, count, last, bytes] = found
    return { firstEvent: first, firstAt, firstTurnEnd: first + count - 1, lastEvent: lastBefore(at, first, last), bytes }
  }
}
