/** Writes which jobs a turn has finished: one row for each of its lanes and final states. Forgets the batches that retention has taken. */
import type { Job } from '@millrace/core/kernel'
import { batchesOf, packRanges, rangesOf } from '@millrace/sqlite/rows'
import type { PruneToken } from '../read/prunable.ts'
import { type Batch, columns } from './batch.ts'

const NOTE = `INSERT INTO finished (queue, state, lane, seqs, turn, at)
SELECT *, $5::bigint, $6::bigint FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[])`
const FORGET = 'DELETE FROM finished WHERE queue = $1 AND state = $2 AND (turn, lane) <= ($3, $4)'
const FORGET_BEFORE = 'DELETE FROM finished WHERE queue = $1 AND state = $2 AND (turn, lane) < ($3, $4)'
const KEEP = 'UPDATE finished SET seqs = $1 WHERE queue = $2 AND state = $3 AND turn = $4 AND lane = $5'

/** @param turn the number of an event of this turn, and of no other */
export function noteFinished(batch: Batch, settled: readonly Job[], at: number, turn: number): void {
  const batches = [...batchesOf(settled, at)]
  if (batches.length === 0) return
  const values = columns(
    batches,
    ({ lane }) => lane.queue.id,
    ({ state }) => state,
    ({ lane }) => lane.id,
    ({ seqs }) => packRanges(rangesOf(seqs)),
  )
  batch.add(NOTE, ...values, turn, at)
}

export function forgetFinished(batch: Batch, tokens: readonly unknown[]): void {
  for (const { queueId, state, turn, laneId, rest } of tokens as readonly PruneToken[]) {
    batch.add(rest === undefined ? FORGET : FORGET_BEFORE, queueId, state, turn, laneId)
    if (rest !== undefined) batch.add(KEEP, rest, queueId, state, turn, laneId)
  }
}
