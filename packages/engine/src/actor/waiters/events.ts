/**
 * Serves readers of the journal by cursor. A question is answered from the journal, a page at a time. At the journal's
 * end it waits here, and is answered with the next commit that has something for it. Old and new events are read in one
 * way: none is missed or delivered twice where old ones end, and nothing is kept for a slow reader.
 *
 * The writer reads, not a reader thread: only the writer knows what the next commit brings, and every Port leads to it.
 * Pages come after all other questions of a turn, so readers that catch up delay no commit.
 */
import { DEFERRED, type EventFilter, type EventsCommand, type EventsPage, eventTest, type JournalEvent, LIMITS } from '@millrace/core'
import type { ConnectionId, Questions, Sender } from '@millrace/core/kernel'
import { type Post, WaitingRoom } from './waitingRoom.ts'

interface Follower extends Sender {
  readonly command: EventsCommand
  /** The filter as JSON. */
  readonly text: string
  readonly fits: (event: JournalEvent) => boolean
  /** The last event that was looked at: nothing up to it is left for this reader. */
  after: number
}

/** A page that readers at the same place with the same filter share: it is created once, and crosses a channel once. */
interface Read {
  readonly events: readonly JournalEvent[]
  /** The fitting events, by the JSON of the filter. */
  readonly fitting: Map<string, readonly JournalEvent[]>
}

/** The number of pages that are kept for other readers, and of filters for each page. */
const PAGES_KEPT = 8
const FILTERS_KEPT = 16

export class EventWaiters {
  readonly waiting = new WaitingRoom<Follower>()
  /** Whole pages, which never change, by the event before them; the one that was used last is at the end. */
  readonly #pages = new Map<number, Read>()

  /** The last event before the turn whose questions are answered: what this turn commits is new to a reader that begins now. */
  before = Number.POSITIVE_INFINITY

  /** Returns the page after the cursor; if there is nothing yet, the reader waits. `last` is the journal's last event. */
  ask(store: Questions, last: number, command: EventsCommand, { connection, request }: Sender): EventsPage | typeof DEFERRED {
    const { after, filter } = command
    // The reader begins now, or the file was restored to an earlier state: the cursor points at events that it does not have.
    if (after > last) {
      const next = Math.min(this.before, last)
      return { events: [], next, gap: { after, resumesAt: next + 1 } }
    }
    const read = after < last ? this.#read(store, after) : NOTHING
    const next = read.events.at(-1)?.seq ?? last
    const first = read.events[0]?.seq ?? last + 1
    const events = fittingOf(read, filter)
    // Events are numbered without gaps: the missing ones were removed.
    if (after > 0 && first > after + 1) return { events, next, gap: { after, resumesAt: first } }
    if (events.length > 0 || next < last) return { events, next }
    const text = JSON.stringify(filter)
    this.waiting.add({ connection, request, command: { ...command, after: last }, text, fits: eventTest(filter), after: last })
    return DEFERRED
  }

  /** Handles the events that a turn has committed: all waiting readers have seen everything before them. */
  committed(events: readonly JournalEvent[], post: Post): void {
    const last = events.at(-1)?.seq
    if (last === undefined) return
    const pages = new Map<string, EventsPage>()
    for (const follower of this.waiting) {
      const { command, connection, request, text, fits } = follower
      const page = pages.get(text) ?? firstPage(events, last, fits)
      pages.set(text, page)
      follower.after = last
      // A reader whose filter matches nothing still gets an empty page from time to time, so that its cursor stays within the journal.
      if (page.events.length === 0 && last - command.after < LIMITS.eventsPassed) continue
      this.waiting.delete(follower)
      post(connection, { id: request, value: page })
    }
  }

  /** Removes and returns all waiting readers, which ask again. */
  takeAll(): readonly { readonly connection: ConnectionId; readonly request: number; readonly command: EventsCommand }[] {
    return this.waiting
      .takeAll()
      .map(({ command, connection, request, after }) => ({ connection, request, command: { ...command, after } }))
  }

  forget(connection: ConnectionId, request?: number): void {
    this.waiting.take(connection, request)
  }

  #read(store: Questions, after: number): Read {
    const kept = this.#pages.get(after)
    if (kept !== undefined) {
      this.#pages.delete(after)
      this.#pages.set(after, kept)
      return kept
    }
    const read = { events: store.events(after, LIMITS.eventsPerPage), fitting: new Map() }
    // The page at the journal's end has more with the next commit.
    if (read.events.length < LIMITS.eventsPerPage) return read
    this.#pages.set(after, read)
    if (this.#pages.size > PAGES_KEPT) this.#pages.delete(this.#pages.keys().next().value as number)
    return read
  }
}

const NOTHING: Read = { events: [], fitting: new Map() }

function fittingOf({ events, fitting }: Read, filter: EventFilter): readonly JournalEvent[] {
  if (events.length === 0) return events
  const text = JSON.stringify(filter)
  const known = fitting.get(text)
  if (known !== undefined) return known
  const found = events.filter(eventTest(filter))
  if (fitting.size < FILTERS_KEPT) fitting.set(text, found)
  return found
}

/** Returns the first fitting events, at most a page of them. */
function firstPage(events: readonly JournalEvent[], last: number, fits: Follower['fits']): EventsPage {
  const found: JournalEvent[] = []
  for (const event of events) {
    if (!fits(event)) continue
    if (found.length === LIMITS.eventsPerPage) return { events: found, next: event.seq - 1 }
    found.push(event)
  }
  return { events: found, next: last }
}
