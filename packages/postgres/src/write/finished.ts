/**
 * Writes which jobs a turn has finished: one row for each of its lanes and final states, and one for each time until which jobs with a
 * `keep` of their own are kept. Forgets the batches that retention has taken.
 */
import type { Job, Queue } from '@millrace/core/kernel'
import { batchesOf, type FinishedBatch, type PruneToken, packRanges, rangesOf } from '@millrace/sql'
import type { LowWaterMarks } from '../lowWaterMarks.ts'
import { type Batch, columns } from './batch.ts'

const NOTE = `INSERT INTO finished (queue, state, lane, seqs, turn, at)
SELECT *, $5::bigint, $6::bigint FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[])`
const NOTE_KEPT = `INSERT INTO kept (queue, state, lane, seqs, until, turn, at)
SELECT *, $6::bigint, $7::bigint FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[])`
const FORGET = 'DELETE FROM finished WHERE queue = $1 AND state = $2 AND (turn, lane) <= ($3, $4) AND (turn, lane) >= ($5, $6)'
const FORGET_BEFORE = 'DELETE FROM finished WHERE queue = $1 AND state = $2 AND (turn, lane) < ($3, $4) AND (turn, lane) >= ($5, $6)'
const KEEP = 'UPDATE finished SET seqs = $1 WHERE queue = $2 AND state = $3 AND turn = $4 AND lane = $5'
const FORGET_KEPT = 'DELETE FROM kept WHERE queue = $1 AND state = $2 AND (until, turn, lane) <= ($3, $4, $5)'
const FORGET_KEPT_BEFORE = 'DELETE FROM kept WHERE queue = $1 AND state = $2 AND (until, turn, lane) < ($3, $4, $5)'
const KEEP_KEPT = 'UPDATE kept SET seqs = $1 WHERE queue = $2 AND state = $3 AND until = $4 AND turn = $5 AND lane = $6'
const COUNT = `INSERT INTO kept_count (queue, completed, failed, cancelled) VALUES ($1, $2, $3, $4)
ON CONFLICT (queue) DO UPDATE SET completed = excluded.completed, failed = excluded.failed, cancelled = excluded.cancelled`
const UNCOUNT = 'DELETE FROM kept_count WHERE queue = $1'

/** @param turn the number of an event of this turn, and of no other */
export function noteFinished(batch: Batch, settled: readonly Job[], at: number, turn: number): void {
  const batches = [...batchesOf(settled, at)]
  const plain = batches.filter(({ keep }) => keep === undefined)
  const kept = batches.filter(({ keep }) => keep !== undefined)
  if (plain.length > 0) batch.add(NOTE, ...columns(plain, ...COLUMNS), turn, at)
  if (kept.length > 0) batch.add(NOTE_KEPT, ...columns(kept, ...COLUMNS, ({ keep = 0 }) => at + keep), turn, at)
}

const COLUMNS = [
  ({ lane }: FinishedBatch) => lane.queue.id,
  ({ state }: FinishedBatch) => state,
  ({ lane }: FinishedBatch) => lane.id,
  ({ seqs }: FinishedBatch) => packRanges(rangesOf(seqs)),
] as const

export function forgetFinished(batch: Batch, tokens: readonly unknown[], marks: LowWaterMarks): void {
  for (const { queueId, state, turn, laneId, until, rest } of tokens as readonly PruneToken[]) {
    const place = until === undefined ? [turn, laneId] : [until, turn, laneId]
    const [all, before, keep] = until === undefined ? [FORGET, FORGET_BEFORE, KEEP] : [FORGET_KEPT, FORGET_KEPT_BEFORE, KEEP_KEPT]
    const from = until === undefined ? marks.finished(queueId, state) : []
    batch.add(rest === undefined ? all : before, queueId, state, ...place, ...from)
    if (rest !== undefined) batch.add(keep, rest, queueId, state, ...place)
  }
}

/** Writes how many finished jobs of each queue have a `keep` of their own. */
export function countKept(batch: Batch, queues: Iterable<Queue>): void {
  for (const { id, kept } of queues) {
    const [, , , , ...counts] = kept
    if (counts.some((count) => count > 0)) batch.add(COUNT, id, ...counts)
    else batch.add(UNCOUNT, id)
  }
}
