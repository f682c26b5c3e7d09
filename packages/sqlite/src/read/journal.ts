/** Reads how far the journal goes back, and how large it is. */
import type { JournalExtent } from '@millrace/core'
import { JOURNAL_ROW_BYTES, prepareExtent, type RawEnds } from '@millrace/sql'
import { type Database, queriesOf } from '../driver.ts'

export function prepareJournal(db: Database): (at: number) => JournalExtent {
  const ends = db
    .prepare(
      `SELECT first.first_event, first.at, first.count, last.first_event, last.bytes - first.bytes + length(first.packed) + ${JOURNAL_ROW_BYTES}
FROM journal AS first CROSS JOIN journal AS last
WHERE first.first_event = (SELECT min(first_event) FROM journal) AND last.first_event = (SELECT max(first_event) FROM journal)`,
    )
    .raw()
  const extentOf = prepareExtent(queriesOf(db))
  return (at) => extentOf(ends.get() as RawEnds | undefined, at)
}
