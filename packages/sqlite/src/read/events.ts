/** The journal by cursor. */
import type { JournalEvent } from '@millrace/core'
import type { Database } from '../driver.ts'
import { decodeEvents, type LaneName } from '../journal.ts'
import { nameOnTomb } from '../tombs.ts'

type RawTurn = [firstEvent: number, at: number, count: number, packed: Uint8Array]

/** The events after one, in order, at most `limit`. */
export function prepareEvents(db: Database): (after: number, limit: number) => JournalEvent[] {
  // The row that holds `after` may hold later ones too.
  const rows = db
    .prepare(
      `SELECT first_event, at, count, packed FROM journal
WHERE first_event >= coalesce((SELECT max(first_event) FROM journal WHERE first_event <= ?), 0) ORDER BY first_event`,
    )
    .raw()
  const laneName = prepareLaneName(db)
  return (after, limit) => {
    const events: JournalEvent[] = []
    for (const [firstEvent, at, count, packed] of rows.iterate(after) as Iterable<RawTurn>) {
      if (firstEvent + count - 1 <= after) continue
      if (events.length >= limit) break
      for (const event of decodeEvents({ firstEvent, at, count, packed }, laneName)) {
        if (event.seq > after && events.length < limit) events.push(event)
      }
    }
    return events
  }
}

/** A lane's number is never another's, and its row stays when its queue is deleted: what was read once stays true. */
function prepareLaneName(db: Database): (id: number) => LaneName {
  const lane = db.prepare('SELECT queue.name, lane.name FROM lane JOIN queue ON queue.id = lane.queue WHERE lane.id = ?').raw()
  const known = new Map<number, LaneName>()
  return (id) => {
    const found = known.get(id)
    if (found !== undefined) return found
    const [queue, name] = (lane.get(id) ?? ['', '']) as [string, string]
    const read = { queue: nameOnTomb(queue), name }
    if (name !== '') known.set(id, read)
    return read
  }
}
