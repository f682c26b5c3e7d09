/** The journal of a MemoryStore: the events of each turn together, as they are kept and forgotten. */
import { isEnd, isJobEvent, type JobEnd, type JournalEvent } from '../events.ts'
import type { EndsPage } from '../kernel/records/rows.ts'
import type { Effects, EventNote } from '../kernel/state/effects.ts'
import { StoreFailure } from '../kernel/state/storeFailure.ts'
import { LIMITS } from '../limits.ts'
import type { JournalExtent } from '../retention.ts'
import { type Undo, UndoMap } from './undo.ts'

interface JournalTurn {
  readonly at: number
  readonly events: readonly JournalEvent[]
}

/** The size of an event does not matter to tests: only that there is one. */
const EVENT_BYTES = 8

export class MemoryJournal {
  /** Turns by their first event. */
  readonly #turns: Map<number, JournalTurn>

  constructor(undo: Undo) {
    this.#turns = new UndoMap(undo)
  }

  get events(): readonly JournalEvent[] {
    return [...this.#turns.values()].flatMap(({ events }) => events)
  }

  write({ events, forgetEventsBefore }: Effects, at: number, nextEvent: number): void {
    const first = nextEvent - events.length
    if (forgetEventsBefore >= first)
      throw new StoreFailure('broken', 'statement', `the journal cannot forget up to event ${forgetEventsBefore}: the turn has written it`)
    const noted = events.map((note, index): JournalEvent => {
      const seq = first + index
      return note.job === undefined ? { seq, at, ...note.body } : jobEvent(note, seq, at)
    })
    if (noted.length > 0) this.#turns.set(first, { at, events: noted })
    const old = [...this.#turns].filter(([seq, turn]) => seq + turn.events.length - 1 <= forgetEventsBefore)
    for (const [seq] of old.slice(0, LIMITS.sliceRows)) this.#turns.delete(seq)
  }

  after(seq: number, limit: number): JournalEvent[] {
    return this.events.filter((event) => event.seq > seq).slice(0, limit)
  }

  ends(after: number, limit: number, eventsMax: number): EndsPage {
    const turns = [...this.#turns.values()].map(({ events }) => events.filter(({ seq }) => seq > after)).filter(({ length }) => length > 0)
    const first = turns[0]?.[0]?.seq
    const ends: JobEnd[] = []
    let last: number | undefined
    for (const events of turns) {
      last = events.at(-1)?.seq
      for (const event of events) {
        if (!isJobEvent(event) || !isEnd(event.type)) continue
        if (ends.length === limit || event.seq >= (first as number) + eventsMax) return { ends, first, last: event.seq - 1 }
        const { seq, jobSeq, node, enqueuedAt, at } = event
        ends.push({ seq, jobSeq, node, enqueuedAt, at })
      }
      if (ends.length === limit || (last as number) >= (first as number) + eventsMax - 1) break
    }
    return { ends, first, last }
  }

  extent(at: number): JournalExtent {
    const turns = [...this.#turns.values()]
    const [first] = turns
    const before = turns.filter((turn) => turn.at < at).at(-1)
    return {
      firstEvent: first?.events[0]?.seq ?? 0,
      firstAt: first?.at ?? 0,
      firstTurnEnd: first?.events.at(-1)?.seq ?? 0,
      lastEvent: before?.events.at(-1)?.seq ?? 0,
      bytes: this.events.length * EVENT_BYTES,
    }
  }
}

function jobEvent({ type, job, run, attempt, error, value }: EventNote, seq: number, at: number): JournalEvent {
  const { seq: jobSeq, node, enqueuedAt, lane } = job
  const happened = { seq, type, jobSeq, node, enqueuedAt, queue: lane.queue.name, name: lane.name, at, run, attempt }
  const detail = value === undefined ? {} : type === 'progress' ? { fraction: value } : { runAt: value }
  return { ...happened, ...(error !== undefined && { error }), ...detail }
}
