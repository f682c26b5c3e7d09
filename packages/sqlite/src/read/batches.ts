/** Reads the batches in which jobs have finished, in the order in which retention takes them. */
import type { StateCode } from '@millrace/core'
import type { KeptQuery } from '@millrace/core/kernel'
import type { Batch } from '@millrace/sql'
import type { Database } from '../driver.ts'

/** The number of batches that one slice reads at most, and at first: a busy turn's batch is as much as another's slice. */
const BATCHES_MAX = 256
const BATCHES_FIRST = 2

export function prepareBatches(db: Database): (query: Pick<KeptQuery, 'queueId' | 'state' | 'before' | 'own'>) => Iterable<Batch> {
  const oldest = db
    .prepare(
      'SELECT turn, lane, at, seqs FROM finished WHERE queue = ? AND state = ? AND (turn, lane) > (?, ?) ORDER BY turn, lane LIMIT ?',
    )
    .raw()
  const over = db
    .prepare(
      `SELECT turn, lane, at, seqs, until FROM kept WHERE queue = ? AND state = ? AND until < ? AND (until, turn, lane) > (?, ?, ?)
ORDER BY until, turn, lane LIMIT ?`,
    )
    .raw()

  /** Yields the oldest batch first. */
  const inOrder = (queueId: number, state: StateCode) =>
    inChunks([Number.MIN_SAFE_INTEGER, 0], (place, size) => oldest.all(queueId, state, ...place, size) as Batch[])
  /** Yields the batch first whose time is over first. */
  const ownInOrder = (queueId: number, state: StateCode, before: number) =>
    inChunks([Number.MIN_SAFE_INTEGER, 0, 0], (place, size) => over.all(queueId, state, before, ...place, size) as Batch[])

  return ({ queueId, state, before, own }) => (own === true ? ownInOrder(queueId, state, before) : inOrder(queueId, state))
}

function* inChunks(first: readonly number[], read: (place: readonly number[], size: number) => readonly Batch[]): Generator<Batch> {
  let place = first
  for (let size = BATCHES_FIRST, left = BATCHES_MAX; left > 0; left -= size, size *= 2) {
    const chunk = read(place, size)
    yield* chunk
    const last = chunk.at(-1)
    if (last === undefined || chunk.length < size) return
    const [turn, lane, , , until] = last
    place = until === undefined ? [turn, lane] : [until, turn, lane]
  }
}
