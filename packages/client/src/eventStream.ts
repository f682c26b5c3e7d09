/**
 * `events()`: the journal by cursor, for `for await`. A page is asked for when the one before has been read, and no sooner: what a slow
 * reader has yet to see stays in the journal. Where the engine goes away and comes back, the same cursor is asked for again.
 */
import { type EventsPage, type EventsSettings, type JobEvent, type JournalGap, MillraceError, type Refusal } from '@millrace/core'
import { ASKED_AGAIN } from './handle.ts'
import type { Mailbox } from './mailbox.ts'
import { type EngineEvent, engineEventOf } from './view.ts'

/** Told in place of events that the journal does not have any more. `resumesAt - 1` is the cursor behind it. */
export interface EventsGap extends JournalGap {
  readonly type: 'gap'
}

export type EventStreamItem = EngineEvent | EventsGap

type Result = IteratorResult<EventStreamItem, undefined>

const DONE: Result = { done: true, value: undefined }

/** What failed may be the turn that the question came with: so often in a row it is asked again. */
const TURN_FAILED: ReadonlySet<string> = new Set(['STORAGE', 'STORAGE_BUSY', 'DISK_FULL'] satisfies Refusal['code'][])
const FAILURES_MAX = 3

export class EventStream implements AsyncIterableIterator<EventStreamItem, undefined> {
  readonly #mailbox: Mailbox
  readonly #settings: EventsSettings
  #after: number
  /** Of the page that was read last. */
  #events: readonly JobEvent[] = []
  #read = 0
  /** Calls of `next` are answered in their order. */
  #last: Promise<unknown> = Promise.resolve()
  /** Ends the wait for the page that is asked for. */
  #leave: (() => void) | undefined
  #failures = 0
  #ended = false
  #aborted = false

  constructor(mailbox: Mailbox, settings: EventsSettings) {
    this.#mailbox = mailbox
    this.#settings = settings
    this.#after = settings.after
    settings.signal?.addEventListener('abort', this.#abort)
    if (settings.signal?.aborted) this.#abort()
  }

  next(): Promise<Result> {
    const result = this.#last.then(() => this.#next())
    this.#last = result.catch(() => {})
    return result
  }

  /** Ends it at once, also where `next` waits. */
  async return(): Promise<Result> {
    this.#end()
    return DONE
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end()
  }

  async #next(): Promise<Result> {
    for (;;) {
      if (this.#aborted) {
        this.#aborted = false
        throw this.#settings.signal?.reason
      }
      if (this.#ended) return DONE
      const event = this.#events[this.#read++]
      if (event !== undefined) return { done: false, value: engineEventOf(event) }
      const gap = await this.#turnPage()
      if (gap !== undefined) return { done: false, value: { type: 'gap', ...gap } }
    }
  }

  /** Reads the next page, if it comes before the end. */
  async #turnPage(): Promise<JournalGap | undefined> {
    const { id, reply } = this.#mailbox.track<'events'>({ op: 'events', after: this.#after, filter: this.#settings.filter })
    const left = new Promise<undefined>((resolve) => {
      this.#leave = () => {
        if (this.#mailbox.forget(id)) this.#mailbox.call<'unwatch'>({ op: 'unwatch', request: id }).catch(() => {})
        resolve(undefined)
      }
    })
    try {
      const page = await Promise.race([reply, left])
      return page && this.#take(page)
    } catch (error) {
      if (error instanceof MillraceError && this.#isAskedAgain(error)) return undefined
      this.#end()
      throw error
    } finally {
      this.#leave = undefined
    }
  }

  #isAskedAgain({ code }: MillraceError): boolean {
    return ASKED_AGAIN.has(code) || (TURN_FAILED.has(code) && ++this.#failures <= FAILURES_MAX)
  }

  #take({ events, next, gap }: EventsPage): JournalGap | undefined {
    this.#events = events
    this.#read = 0
    this.#failures = 0
    this.#after = next
    return gap
  }

  #end(): void {
    this.#ended = true
    this.#events = []
    this.#settings.signal?.removeEventListener('abort', this.#abort)
    this.#leave?.()
  }

  readonly #abort = (): void => {
    this.#aborted = true
    this.#end()
  }
}
