/** The journal by cursor. */
import type { JobEvent } from '@millrace/core'
import type { Database } from '../driver.ts'
import { decodeEvents, type LaneName } from '../journal.ts'

type RawTurn = [firstEvent: number, at: number, count: number, packed: Uint8Array]

/** The events after one, in order, at most `limit`. */
export function prepareEvents(db: Database): (after: number, limit: number) => JobEvent[] {
  // The row that holds `after` may hold later ones too.
  const rows = db
    .prepare(
      `SELECT first_event, at, count, packed FROM journal
WHERE first_event >= coalesce((SELECT max(first_event) FROM journal WHERE first_event <= ?), 0) ORDER BY first_event`,
    )
    .raw()
  const laneName = prepareLaneName(db)
  return (after, limit) => {
    const events: JobEvent[] = []
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

/** Lanes are never renamed or removed: what was read once stays true. */
function prepareLaneName(db: Database): (id: number) => LaneName {
  const lane = db.prepare('SELECT queue.name, lane.name FROM lane JOIN queue ON queue.id = lane.queue WHERE lane.id = ?').raw()
  const known = new Map<number, LaneName>()
  return (id) => {
    const found = known.get(id)
    if (found !== undefined) return found
    const [queue, name] = (lane.get(id) ?? ['', '']) as [string, string]
    const read = { queue, name }
    if (name !== '') known.set(id, read)
    return read
  }
}

/** The oldest event kept, the last one before `at` (0 for none), and the bytes of the whole journal. */
export function prepareJournal(db: Database): (at: number) => { firstEvent: number; lastEvent: number; bytes: number } {
  const first = db.prepare('SELECT min(first_event) FROM journal').pluck()
  const last = db.prepare('SELECT first_event + count - 1 FROM journal WHERE at < ? ORDER BY at DESC, first_event DESC LIMIT 1').pluck()
  const bytes = db.prepare('SELECT journal_bytes FROM meta').pluck()
  return (at) => ({
    firstEvent: (first.get() as number | null) ?? 0,
    lastEvent: (last.get(at) as number | undefined) ?? 0,
    bytes: bytes.get() as number,
  })
}
