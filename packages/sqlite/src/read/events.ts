/** Reads the journal by cursor. */

import { type JobEnd, type JournalEvent, LIMITS } from '@millrace/core'
import type { EndsPage } from '@millrace/core/kernel'
import { decodeEnds, decodeEvents, type JournalRow, type LaneName, nameOnTombstone } from '@millrace/sql'
import type { Database } from '../driver.ts'

type RawTurn = [firstEvent: number, at: number, count: number, packed: Uint8Array]

/** Returns the events after the given one, in order, at most `limit`. */
export function prepareEvents(db: Database): (after: number, limit: number) => JournalEvent[] {
  const turns = prepareTurnsAfter(db)
  const laneName = prepareLaneName(db)
  return (after, limit) => {
    const events: JournalEvent[] = []
    for (const turn of turns(after)) {
      for (const event of decodeEvents(turn, laneName)) if (event.seq > after && events.length < limit) events.push(event)
      if (events.length >= limit) break
    }
    return events
  }
}

/** Implements `Store.ends`. */
export function prepareEnds(db: Database): (after: number, limit: number, eventsMax: number) => EndsPage {
  const turns = prepareTurnsAfter(db)
  return (after, limit, eventsMax) => {
    const ends: JobEnd[] = []
    let first: number | undefined
    let last: number | undefined
    for (const turn of turns(after)) {
      first ??= Math.max(turn.firstEvent, after + 1)
      last = turn.firstEvent + turn.count - 1
      for (const end of decodeEnds(turn)) {
        if (end.seq <= after) continue
        if (ends.length === limit || end.seq >= first + eventsMax) return { ends, first, last: end.seq - 1 }
        ends.push(end)
      }
      if (ends.length === limit || last >= first + eventsMax - 1) break
    }
    return { ends, first, last }
  }
}

/** Yields the turns that have events after the given one, in order. */
function prepareTurnsAfter(db: Database): (after: number) => Iterable<JournalRow> {
  // The row that holds `after` may hold later ones too.
  const rows = db
    .prepare(
      `SELECT first_event, at, count, packed FROM journal
WHERE first_event >= coalesce((SELECT max(first_event) FROM journal WHERE first_event <= ?), 0) ORDER BY first_event`,
    )
    .raw()
  return function* (after) {
    for (const [firstEvent, at, count, packed] of rows.iterate(after) as Iterable<RawTurn>)
      if (firstEvent + count - 1 > after) yield { firstEvent, at, count, packed }
  }
}

/**
 * Returns the names of a lane. A lane's number is never reused, and its row stays when its queue is deleted, so names that were
 * read once stay true. Those of forgotten lanes leave with all others once there are more than a store keeps.
 */
function prepareLaneName(db: Database): (id: number) => LaneName {
  const lane = db.prepare('SELECT queue.name, lane.name FROM lane JOIN queue ON queue.id = lane.queue WHERE lane.id = ?').raw()
  const known = new Map<number, LaneName>()
  return (id) => {
    const found = known.get(id)
    if (found !== undefined) return found
    const [queue, name] = (lane.get(id) ?? ['', '']) as [string, string]
    const read = { queue: nameOnTombstone(queue), name }
    if (known.size >= LIMITS.names) known.clear()
    if (name !== '') known.set(id, read)
    return read
  }
}
