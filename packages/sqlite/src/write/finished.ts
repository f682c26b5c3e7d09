/**
 * Writes which jobs a turn has finished: one row for each of its lanes and final states, so that a job costs a fraction of a byte. Jobs
 * with a `keep` of their own have rows elsewhere, one for each time until which they are kept.
 */
import type { Job, Queue } from '@millrace/core/kernel'
import { batchesOf, type PruneToken, packRanges, rangesOf } from '@millrace/sql'
import type { Database } from '../driver.ts'

export interface WriteFinished {
  /** `turn` is the number of an event of this turn, and of no other. */
  note(settled: readonly Job[], at: number, turn: number): void
  /** Forgets the batches that retention has taken. */
  forget(tokens: readonly unknown[]): void
  /** Writes how many finished jobs of each queue have a `keep` of their own. */
  count(queues: Iterable<Queue>): void
}

export function prepareFinished(db: Database): WriteFinished {
  const insert = db.prepare('INSERT INTO finished (queue, state, turn, lane, at, seqs) VALUES (?, ?, ?, ?, ?, ?)')
  const forget = db.prepare('DELETE FROM finished WHERE queue = ? AND state = ? AND (turn, lane) <= (?, ?)')
  const forgetBefore = db.prepare('DELETE FROM finished WHERE queue = ? AND state = ? AND (turn, lane) < (?, ?)')
  const keep = db.prepare('UPDATE finished SET seqs = ? WHERE queue = ? AND state = ? AND turn = ? AND lane = ?')
  const insertKept = db.prepare('INSERT INTO kept (queue, state, turn, lane, until, at, seqs) VALUES (?, ?, ?, ?, ?, ?, ?)')
  const forgetKept = db.prepare('DELETE FROM kept WHERE queue = ? AND state = ? AND (until, turn, lane) <= (?, ?, ?)')
  const forgetKeptBefore = db.prepare('DELETE FROM kept WHERE queue = ? AND state = ? AND (until, turn, lane) < (?, ?, ?)')
  const keepKept = db.prepare('UPDATE kept SET seqs = ? WHERE queue = ? AND state = ? AND until = ? AND turn = ? AND lane = ?')
  const count = db.prepare('INSERT OR REPLACE INTO kept_count (queue, completed, failed, cancelled) VALUES (?, ?, ?, ?)')
  const uncount = db.prepare('DELETE FROM kept_count WHERE queue = ?')

  return {
    note(settled, at, turn) {
      for (const { lane, state, seqs, keep } of batchesOf(settled, at)) {
        const packed = packRanges(rangesOf(seqs))
        if (keep === undefined) insert.run(lane.queue.id, state, turn, lane.id, at, packed)
        else insertKept.run(lane.queue.id, state, turn, lane.id, at + keep, at, packed)
      }
    },
    forget(tokens) {
      for (const { queueId, state, turn, laneId, until, rest } of tokens as readonly PruneToken[]) {
        const place = until === undefined ? [turn, laneId] : [until, turn, laneId]
        const [all, before, change] = until === undefined ? [forget, forgetBefore, keep] : [forgetKept, forgetKeptBefore, keepKept]
        if (rest === undefined) all.run(queueId, state, ...place)
        else {
          before.run(queueId, state, ...place)
          change.run(rest, queueId, state, ...place)
        }
      }
    },
    count(queues) {
      for (const queue of queues) {
        const [, , , , ...counts] = queue.kept
        if (counts.some((count) => count > 0)) count.run(queue.id, ...counts)
        else uncount.run(queue.id)
      }
    },
  }
}
