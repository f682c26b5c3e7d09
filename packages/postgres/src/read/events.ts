/** Reads the journal by cursor, and how far it goes back. */
import { type JobEnd, type JournalEvent, type JournalExtent, LIMITS } from '@millrace/core'
import type { EndsPage } from '@millrace/core/kernel'
import { decodeEnds, decodeEvents, JOURNAL_ROW_BYTES, type JournalRow, type LaneName, nameOnTombstone } from '@millrace/sql'
import type { Connection } from '../connection.ts'
import type { Floors } from '../floors.ts'

type RawTurn = [firstEvent: number, at: number, count: number, packed: Uint8Array]

/** The turns of one read. */
const TURNS = 64

/** Returns the events after the given one, in order, at most `limit`. */
export function prepareEvents(connection: Connection): (after: number, limit: number) => JournalEvent[] {
  const turns = prepareTurnsAfter(connection)
  const laneName = prepareLaneName(connection)
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
export function prepareEnds(connection: Connection): (after: number, limit: number, eventsMax: number) => EndsPage {
  const turns = prepareTurnsAfter(connection)
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
function prepareTurnsAfter(connection: Connection): (after: number) => Iterable<JournalRow> {
  // The row that holds `after` may hold later ones too.
  const sql = `SELECT first_event, at, count, packed FROM journal WHERE count > 0
AND first_event >= coalesce((SELECT max(first_event) FROM journal WHERE count > 0 AND first_event <= $1), 0) ORDER BY first_event LIMIT ${TURNS}`
  return function* (after) {
    for (let behind = after; ; ) {
      const rows = connection.all<RawTurn>(sql, behind)
      for (const [firstEvent, at, count, packed] of rows) {
        if (firstEvent + count - 1 <= behind) continue
        yield { firstEvent, at, count, packed }
        behind = firstEvent + count - 1
      }
      if (rows.length < TURNS) return
    }
  }
}

/**
 * Returns the names of a lane. A lane's number is never reused, and its row stays when its queue is deleted, so names that were read once
 * stay true. Those of forgotten lanes leave with all others once there are more than a store keeps.
 */
function prepareLaneName(connection: Connection): (id: number) => LaneName {
  const sql = 'SELECT queue.name, lane.name FROM lane JOIN queue ON queue.id = lane.queue WHERE lane.id = $1'
  const known = new Map<number, LaneName>()
  return (id) => {
    const found = known.get(id)
    if (found !== undefined) return found
    const [queue, name] = connection.get<[string, string]>(sql, id) ?? ['', '']
    const read = { queue: nameOnTombstone(queue), name }
    if (known.size >= LIMITS.names) known.clear()
    if (name !== '') known.set(id, read)
    return read
  }
}

/** Rows are in the order of their turns, so a time is found by binary search. */
export function prepareJournal(connection: Connection, floors: Floors): (at: number) => JournalExtent {
  const ends = `SELECT first.first_event, first.at, first.count, last.first_event, last.bytes - first.bytes + length(first.packed) + ${JOURNAL_ROW_BYTES},
(SELECT min(turn) FROM journal WHERE turn >= $2)
FROM (SELECT * FROM journal WHERE count > 0 AND first_event >= $1 ORDER BY first_event LIMIT 1) AS first
CROSS JOIN (SELECT * FROM journal WHERE count > 0 ORDER BY first_event DESC LIMIT 1) AS last`
  const atOrBefore = 'SELECT first_event, at, count FROM journal WHERE count > 0 AND first_event <= $1 ORDER BY first_event DESC LIMIT 1'

  const lastBefore = (at: number, first: number, last: number): number => {
    let low = first
    let high = last
    let found = 0
    while (low <= high) {
      const middle = Math.floor((low + high) / 2)
      const [firstEvent, turnAt, count] = connection.get<[number, number, number]>(atOrBefore, middle) as [number, number, number]
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
    const { event, turn } = floors.journal
    const found = connection.get<[number, number, number, number, number, number]>(ends, event, turn)
    if (found === undefined) return { firstEvent: 0, firstAt: 0, firstTurnEnd: 0, lastEvent: 0, bytes: 0 }
    const [first, firstAt, count, last, bytes, firstTurn] = found
    floors.journal = { turn: firstTurn, event: first }
    return { firstEvent: first, firstAt, firstTurnEnd: first + count - 1, lastEvent: lastBefore(at, first, last), bytes }
  }
}
