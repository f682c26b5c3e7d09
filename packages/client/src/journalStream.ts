/**
 * The journal by cursor, for `for await`: events one by one, or finished jobs in batches. A page is asked for when the one before has been
 * read, and no sooner: what a slow reader has yet to see stays where it is. Where the engine goes away and comes back, the same is asked
 * for again.
 */
import {
  type Clock,
  type CommandOf,
  type ErrorCode,
  type JournalGap,
  LIMITS,
  MillraceError,
  type ReplyOf,
  type StopSignal,
} from '@millrace/core'
import { ASKED_AGAIN } from './handle.ts'
import type { Mailbox } from './mailbox.ts'
import type { MillraceEvent } from './view.ts'

/** Told in place of events that the journal does not have any more. `resumesAt - 1` is the cursor behind it. */
export interface EventsGap extends JournalGap {
  readonly type: 'gap'
}

export type EventStreamItem = MillraceEvent | EventsGap
export type EventStream = JournalStream<'events', EventStreamItem>

type Question = 'events' | 'export'

/** An array, or what makes its items when they are read. */
export interface Items<Item> {
  readonly length: number
  at(index: number): Item | undefined
}

/** What is asked, page by page. */
export interface Pages<Op extends Question, Item> {
  /** The next question. */
  ask(): CommandOf<Op>
  /** What a page has; maybe nothing. The next question comes when all of it has been read. */
  read(page: ReplyOf[Op]): Items<Item>
}

/** What failed may be the turn that the question came with: so often in a row it is asked again. */
const TURN_FAILED: ReadonlySet<string> = new Set(['STORAGE', 'STORAGE_BUSY', 'DISK_FULL'] satisfies ErrorCode[])
const FAILURES_MAX = 3
/** What is of unknown outcome again and again is asked again after a pause: a question may write, and fail as the last one did. */
const PAUSE_MS = 250
const DONE: IteratorResult<never, undefined> = { done: true, value: undefined }

export class JournalStream<Op extends Question, Item> implements AsyncIterableIterator<Item, undefined> {
  readonly #mailbox: Mailbox
  readonly #pages: Pages<Op, Item>
  readonly #signal: StopSignal | undefined
  /** Of the page that was read last. */
  #items: Items<Item> = []
  #read = 0
  /** The last page was full, so there is more: the stream catches up. */
  #behind = false
  /** Calls of `next` are answered in their order. */
  #last: Promise<unknown> = Promise.resolve()
  /** Ends the wait for the page that is asked for. */
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

  next(): Promise<IteratorResult<Item, undefined>> {
    const result = this.#last.then(() => this.#next())
    this.#last = result.catch(() => {})
    return result
  }

  /** Up to so many items that are there already, behind what `next` has answered: none is waited for. */
  take(count: number): readonly Item[] {
    const taken: Item[] = []
    while (taken.length < count && this.#read < this.#items.length) taken.push(this.#items.at(this.#read++) as Item)
    return taken
  }

  /** Ends it at once, also where `next` waits. */
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

  /** Streams that catch up take turns: hundreds of whole pages at once would hold up every other answer. */
  async #catchUp(): Promise<void> {
    const { pages } = this.#mailbox
    await pages.take()
    try {
      if (!this.#ended) await this.#turnPage()
    } finally {
      pages.give()
    }
  }

  /** Reads the next page, if it comes before the end. */
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
      if (error instanceof MillraceError && this.#isAskedAgain(error)) {
        if (error.code === 'COMMIT_UNKNOWN' && ++this.#unknown > 1) await this.#pause()
        return
      }
      this.#end()
      throw error
    } finally {
      this.#leave = undefined
    }
  }

  /** Ended by the end of the stream. */
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
