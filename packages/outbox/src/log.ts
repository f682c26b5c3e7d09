/**
 * Reads the rows of an outbox for the forwarder. It reads only while the app has no transaction open: rows seen within one could
 * still be rolled back.
 */
import type { Chunk, Source, SourceLog, SourceRefusals } from '@millrace/client'
import { type Clock, EngineStoppedError, type Refusal } from '@millrace/core'
import { type Connection, inTransaction, isOpen } from './connection.ts'
import type { OutboxTable, Row } from './table.ts'

const CHUNK_JOBS = 1_000
/** The longest pause between two checks for the end of the app's transaction; pauses grow from 1 ms to this. */
const LOOK_MS = 100

export interface OutboxChunk extends Chunk {
  readonly last: Row
}

export class OutboxLog implements SourceLog<OutboxChunk>, SourceRefusals {
  readonly #connection: Connection
  readonly #table: OutboxTable
  readonly #clock: Clock
  readonly #gone: () => void
  #source: Source
  /** The last place of this source that is done. */
  #done = 0
  /** The last of the rows that existed before the source; 0 once they are done. */
  #left = 0
  #closed = false
  #look = () => {}

  /** `gone` is called if the app has closed its connection. */
  constructor(connection: Connection, table: OutboxTable, clock: Clock, source: Source, gone: () => void) {
    this.#connection = connection
    this.#table = table
    this.#clock = clock
    this.#gone = gone
    this.#source = source
    this.begin(source)
  }

  /** Takes the existing rows as another source's, and continues with this source. */
  begin(source: Source): void {
    this.#source = source
    this.#done = 0
    this.#left = this.#table.newest()
  }

  /** Checks now whether the transaction is over. */
  look(): void {
    this.#look()
  }

  close(): void {
    this.#closed = true
    this.#look()
  }

  read(): Promise<OutboxChunk | undefined> {
    return this.#outside(() => {
      const rows = this.#rows()
      const [first, last] = [rows[0], rows.at(-1)]
      return first && last && { source: first.source, first: first.place, entries: rows.map(({ entry }) => entry), last }
    })
  }

  drop({ source, first, last }: OutboxChunk): Promise<void> {
    return this.#outside(() => {
      this.#table.forget(source, first, last.place)
      if (source.uuid === this.#source.uuid) this.#done = last.place
    })
  }

  /** Returns false, because refused rows are not read again. */
  has(): boolean {
    return false
  }

  note(source: Source, place: number, _entry: unknown, refusal: Refusal): Promise<void> {
    return this.#outside(() => this.#table.refuse(source, place, refusal))
  }

  forget(): void {}

  #rows(): Row[] {
    const left = this.#left > 0 ? this.#table.left(this.#left, CHUNK_JOBS) : []
    if (left.length > 0) return left
    this.#left = 0
    return this.#table.own(this.#source, this.#done, CHUNK_JOBS)
  }

  /** Does the work outside of the app's transactions, in the same tick as the check: in the next one there may be another transaction. */
  async #outside<Result>(work: () => Result): Promise<Result> {
    for (let ms = 1; ; ms = Math.min(2 * ms, LOOK_MS)) {
      if (!isOpen(this.#connection)) this.#gone()
      if (this.#closed) throw new EngineStoppedError('the outbox has ended')
      if (!inTransaction(this.#connection)) return work()
      await new Promise<void>((resolve) => {
        const forget = this.#clock.setTimer(ms, resolve)
        this.#look = () => {
          forget()
          resolve()
        }
      })
    }
  }
}
