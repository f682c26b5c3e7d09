/**
 * Reads the journal by cursor, for `for await`: events one by one, or finished jobs in batches. A page is requested only
 * when the one before has been read, so that nothing piles up for a slow reader. If the engine goes away and comes back,
 * the same page is requested again.
 */
import {
  type Clock,
  type CommandOf,
  type ErrorCode,
  isErrorOf,
  type JournalGap,
  LIMITS,
  type MillraceError,
  type ReplyOf,
  type StopSignal,
} from '@millrace/core'
import { ASKED_AGAIN } from './handle.ts'
import type { Mailbox } from './mailbox.ts'
import type { MillraceEvent } from './view.ts'

/** Takes the place of events that the journal no longer has. `resumesAt - 1` is the cursor behind it. */
export interface EventsGap extends JournalGap {
  readonly type: 'gap'
}

/** An event, or a gap in the events that are kept. */
export type EventStreamItem = MillraceEvent | EventsGap
/** Events in their order, for `for await`. */
export type EventStream = JournalStream<'events', EventStreamItem>

type Question = 'events' | 'export'

/** An array, or an object that creates its items when they are read. */
export interface Items<Item> {
  readonly length: number
  at(index: number): Item | undefined
}

/** The questions and pages of a stream. */
export interface Pages<Op extends Question, Item> {
  /** Returns the next question. */
  ask(): CommandOf<Op>
  /** Returns the items of a page, perhaps none. The next question comes when all of them have been read. */
  read(page: ReplyOf[Op]): Items<Item>
}

/** Errors that may concern the whole turn of the question. It is asked again after up to FAILURES_MAX of them in a row. */
const TURN_FAILED: ReadonlySet<string> = new Set(['STORAGE', 'STORAGE_BUSY', 'DISK_FULL'] satisfies ErrorCode[])
const FAILURES_MAX = 3
/** The pause before a question is asked again after repeated unknown outcomes: it may write, and fail as the last one did. */
const PAUSE_MS = 250
const DONE: IteratorResult<never, undefined> = { done: true, value: undefined }

/** Events or finished jobs in their order, for `for await`: what `events` and `exports.read` return. */
export class JournalStream<Op extends Question, Item> implements AsyncIterableIterator<Item, undefined> {
  readonly #mailbox: Mailbox
  readonly #pages: Pages<Op, Item>
  readonly #signal: StopSignal | undefined
  /** The items of the last page that was read. */
  #items: Items<Item> = []
  #read = 0
  /** True if the last page was full, so that there is more: the stream catches up. */
  #behind = false
  /** The last call of `next`: calls are answered in order. */
  #last: Promise<unknown> = Promise.resolve()
  /** Ends the wait for the requested page. */
  #leave: (() => void) | undefined
  readonly #clock: Clock
  #failures = 0
  #unknown = 0
  #ended = false
  #aborted = false

  constructor(mailbox: Mailbox, pages: Pages<Op, Item>, signal: StopSignal | undefined, clock: Clock) {
    this.#mailbox = mailbox
    this.#pages = pages
    this.#signal = signal
    this.#clock = clock
    signal?.addEventListener('abort', this.#abort)
    if (signal?.aborted) this.#abort()
  }

  /** Asks for the first page now, and not with the first `next`. */
  begin(): this {
    if (this.#ended) return this
    this.#last = this.#turnPage()
    // The first `next` throws what this throws.
    this.#last.catch(() => {})
    return this
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    const result = this.#last.then(() => this.#next())
    this.#last = result.catch(() => {})
    return result
  }

  /** Returns up to `count` items that are already here, after those that `next` has returned. It waits for none. */
  take(count: number): readonly Item[] {
    const taken: Item[] = []
    while (taken.length < count && this.#read < this.#items.length) taken.push(this.#items.at(this.#read++) as Item)
    return taken
  }

  /** Ends the stream at once, even while `next` waits. */
  async return(): Promise<IteratorResult<Item, undefined>> {
    this.#end()
    return DONE
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end()
  }

  async #next(): Promise<IteratorResult<Item, undefined>> {
    for (;;) {
      if (this.#aborted) {
        this.#aborted = false
        throw this.#signal?.reason
      }
      if (this.#ended) return DONE
      if (this.#read < this.#items.length) return { done: false, value: this.#items.at(this.#read++) as Item }
      await (this.#behind ? this.#catchUp() : this.#turnPage())
    }
  }

  /** Turns a page when it is this stream's turn: hundreds of whole pages at once would delay every other answer. */
  async #catchUp(): Promise<void> {
    const { pages } = this.#mailbox
    await pages.take()
    try {
      if (!this.#ended) await this.#turnPage()
    } finally {
      pages.give()
    }
  }

  /** Reads the next page, if it arrives before the end. */
  async #turnPage(): Promise<void> {
    const { id, reply } = this.#mailbox.track<Op>(this.#pages.ask())
    const left = new Promise<undefined>((resolve) => {
      this.#leave = () => {
        if (this.#mailbox.forget(id)) this.#mailbox.call<'unwatch'>({ op: 'unwatch', request: id }).catch(() => {})
        resolve(undefined)
      }
    })
    try {
      const page = await Promise.race([reply, left])
      if (page === undefined) return
      this.#failures = 0
      this.#unknown = 0
      this.#read = 0
      this.#items = this.#pages.read(page)
      this.#behind = this.#items.length >= LIMITS.eventsPerPage
    } catch (error) {
      if (isErrorOf(error, 'MillraceError') && this.#isAskedAgain(error)) {
        if (error.code === 'COMMIT_UNKNOWN' && ++this.#unknown > 1) await this.#pause()
        return
      }
      this.#end()
      throw error
    } finally {
      this.#leave = undefined
    }
  }

  /** Waits until the pause is over or the stream ends. */
  async #pause(): Promise<void> {
    if (this.#ended) return
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.setTimer(PAUSE_MS, resolve)
      this.#leave = () => {
        cancel()
        resolve()
      }
    })
  }

  #isAskedAgain({ code }: MillraceError): boolean {
    return ASKED_AGAIN.has(code) || (TURN_FAILED.has(code) && ++this.#failures <= FAILURES_MAX)
  }

  #end(): void {
    this.#ended = true
    this.#items = []
    this.#signal?.removeEventListener('abort', this.#abort)
    this.#leave?.()
  }

  readonly #abort = (): void => {
    this.#aborted = true
    this.#end()
  }
}
