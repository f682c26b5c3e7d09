/**
 * Who reads the journal by cursor. A question is answered from the journal, a page at a time; at its end the question waits here, and is
 * answered with the commit that has something for it. So there is one way to read, whether an event is old or new: nothing is missed or
 * told twice where the one becomes the other, and nothing is kept for a reader that is slow. Kept apart from the tables, so that a reload
 * loses none.
 *
 * The writer reads, and no reader thread: it alone knows what the next commit brings, it is what every Port leads to, and a page
 * is no more than a batch of new jobs.
 */
import {
  type ConnectionId,
  type EventsCommand,
  type EventsPage,
  eventTest,
  HELD,
  type JournalEvent,
  LIMITS,
  type Reply,
  type Sender,
  type Store,
} from '@millrace/core'

interface Follower {
  readonly command: EventsCommand
  readonly sender: Sender
  readonly fits: (event: JournalEvent) => boolean
  /** Nothing up to this one is for it. */
  after: number
}

export class Followers {
  #waiting: Follower[] = []

  /** Some wait for the next event. */
  get any(): boolean {
    return this.#waiting.length > 0
  }

  /** The page behind the cursor; where there is nothing for it yet, who asked is remembered. `last` is the journal's last event. */
  ask(store: Store, last: number, command: EventsCommand, sender: Sender): EventsPage | typeof HELD {
    const { after, filter } = command
    // Of a file that was put back to an earlier state: what it then had is not what it has.
    if (after > last) return { events: [], next: last, gap: { after, resumesAt: last + 1 } }
    const read = after < last ? store.events(after, LIMITS.eventsPerPage) : []
    const next = read.at(-1)?.seq ?? last
    const first = read[0]?.seq ?? last + 1
    const fits = eventTest(filter)
    const events = read.filter(fits)
    // Numbers leave out none: what is missing was forgotten.
    if (after > 0 && first > after + 1) return { events, next, gap: { after, resumesAt: first } }
    if (events.length > 0 || next < last) return { events, next }
    this.#waiting.push({ command: { ...command, after: last }, sender, fits, after: last })
    return HELD
  }

  /** What a turn has committed: all who wait have been asked about everything before it. */
  tell(events: readonly JournalEvent[], post: (connection: ConnectionId, reply: Reply) => void): void {
    const last = events.at(-1)?.seq
    if (last === undefined) return
    this.#waiting = this.#waiting.filter((follower) => {
      const { command, sender, fits } = follower
      const found: JournalEvent[] = []
      let next = last
      for (const event of events) {
        if (!fits(event)) continue
        if (found.length === LIMITS.eventsPerPage) {
          next = event.seq - 1
          break
        }
        found.push(event)
      }
      follower.after = last
      // Who has no use for what happens is told how far it has come now and then, before the journal forgets where it was.
      if (found.length === 0 && last - command.after < LIMITS.eventsPassed) return true
      const page: EventsPage = { events: found, next }
      post(sender.connection, { id: sender.request, value: page })
      return false
    })
  }

  /** After a reload, what was committed may never have been told: each asks again. */
  takeAll(): readonly { readonly command: EventsCommand; readonly sender: Sender }[] {
    const all = this.#waiting.map(({ command, sender, after }) => ({ command: { ...command, after }, sender }))
    this.#waiting = []
    return all
  }

  forget(connection: ConnectionId, request?: number): void {
    this.#waiting = this.#waiting.filter(
      ({ sender }) => sender.connection !== connection || (request !== undefined && sender.request !== request),
    )
  }
}
