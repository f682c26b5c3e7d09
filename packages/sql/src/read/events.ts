/** Reads the journal by cursor, and how far it goes back. */
import { type JobEnd, type JournalEvent, type JournalExtent, LIMITS } from '@millrace/core'
import type { Store } from '@millrace/core/kernel'
import { nameOnTombstone } from '../deletedQueues.ts'
import { decodeEnds, decodeEvents, type JournalRow, type LaneName } from '../journal.ts'
import type { Prepare } from '../query.ts'

export type RawTurn = [firstEvent: number, at: number, count: number, packed: Uint8Array]

/** Yields the turns that have events after the given one, in order. */
export type TurnsAfter = (after: number) => Iterable<JournalRow>

export function turnFrom([firstEvent, at, count, packed]: RawTurn): JournalRow {
  return { firstEvent, at, count, packed }
}

/** Returns the events after the given one, in order, at most `limit`. */
export function prepareEvents(prepare: Prepare, turns: TurnsAfter): Store['events'] {
  const laneName = prepareLaneName(prepare)
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
export function prepareEnds(turns: TurnsAfter): Store['ends'] {
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

/**
 * Returns the names of a lane. A lane's number is never reused, and its row stays when its queue is deleted, so names that were
 * read once stay true. Those of forgotten lanes leave with all others once there are more than a store keeps.
 */
function prepareLaneName(prepare: Prepare): (id: number) => LaneName {
  const lane = prepare<[string, string]>('SELECT queue.name, lane.name FROM lane JOIN queue ON queue.id = lane.queue WHERE lane.id = ?')
  const known = new Map<number, LaneName>()
  return (id) => {
    const found = known.get(id)
    if (found !== undefined) return found
    const [queue, name] = lane.get(id) ?? ['', '']
    const read = { queue: nameOnTombstone(queue), name }
    if (known.size >= LIMITS.names) known.clear()
    if (name !== '') known.set(id, read)
    return read
  }
}

/** The first turn of the journal: its first event, time and number of events. Then the last turn's first event, and the bytes of all. */
export type RawEnds = [first: number, firstAt: number, count: number, last: number, bytes: number]

/**
 * Returns how far the journal goes back, from its ends. Rows are in the order of their turns, so a time is found by binary search: an index
 * by time would cost every turn a page, and this is rarely needed. If the wall clock was set back, the result is one of the turns around.
 */
export function prepareExtent(prepare: Prepare): (ends: RawEnds | undefined, at: number) => JournalExtent {
  const turnAtOrBefore = prepare<[firstEvent: number, at: number, count: number]>(
    'SELECT first_event, at, count FROM journal WHERE count > 0 AND first_event <= ? ORDER BY first_event DESC LIMIT 1',
  )

  const lastBefore = (at: number, first: number, last: number): number => {
    let low = first
    let high = last
    let found = 0
    while (low <= high) {
      const middle = Math.floor((low + high) / 2)
      const [firstEvent, turnAt, count] = turnAtOrBefore.get(middle) as [number, number, number]
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

  return (ends, at) => {
    if (ends === undefined) return { firstEvent: 0, firstAt: 0, firstTurnEnd: 0, lastEvent: 0, bytes: 0 }
    const [first, firstAt, count, last, bytes] = ends
    return { firstEvent: first, firstAt, firstTurnEnd: first + count - 1, lastEvent: lastBefore(at, first, last), bytes }
  }
}
