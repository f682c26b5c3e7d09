/** Writes a queue's totals before a minute: one row, and another if the minute is the first of its hour. It deletes old rows, too. */
import { LIMITS } from '@millrace/core'
import { hourOf, type MinuteNote } from '@millrace/core/kernel'
import { HOUR, MINUTE } from '@millrace/sql'
import type { Batch } from './batch.ts'

// An existing row is from before the clock went back: its totals are the same, or less.
const ADD = `INSERT INTO history (queue, step, at, enqueued, completed, failed, cancelled) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (queue, step, at) DO NOTHING`
const FORGET_BEFORE = 'DELETE FROM history WHERE queue = $1 AND step = $2 AND at < $3'
const FORGET_AFTER = 'DELETE FROM history WHERE queue = $1 AND step = $2 AND at > $3'

export function writeHistory(batch: Batch, minutes: readonly MinuteNote[]): void {
  for (const { queue, at, before, totals } of minutes) {
    const note = (step: number, time: number, keptMs: number) => {
      if (before > at) batch.add(FORGET_AFTER, queue.id, step, time)
      batch.add(FORGET_BEFORE, queue.id, step, time - keptMs)
      batch.add(ADD, queue.id, step, time, totals.enqueued, totals.completed, totals.failed, totals.cancelled)
    }
    note(MINUTE, at, LIMITS.historyMinutesMs)
    if (hourOf(before) !== hourOf(at)) note(HOUR, hourOf(at), LIMITS.historyHoursMs)
  }
}
