/**
 * The places where the rows of a table begin that go from the front, and come only behind all others. Postgres keeps what is deleted while any
 * transaction of the server stays open. A statement that began at the start of an index would pass over all of it each time.
 */
import type { StateCode } from '@millrace/core'

type Batch = readonly [turn: number, lane: number]

const FIRST: Batch = [0, 0]

export class LowWaterMarks {
  /** The first row of the journal, as it was last read, and its first event. */
  journal = { turn: 0, event: 0 }
  readonly #finished = new Map<string, Batch>()

  /** The first batch of finished jobs, as it was last read. */
  finished(queueId: number, state: StateCode): Batch {
    return this.#finished.get(`${queueId} ${state}`) ?? FIRST
  }

  foundFinished(queueId: number, state: StateCode, batch: Batch): void {
    this.#finished.set(`${queueId} ${state}`, batch)
  }
}
