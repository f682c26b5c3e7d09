/** Writes a queue's totals before a minute: one row, and another if the minute is the first of its hour. It deletes old rows, too. */
import { LIMITS } from '@millrace/core'
import { hourOf, type MinuteNote } from '@millrace/core/kernel'
import { HOUR, MINUTE } from '@millrace/sql'
import type { Database } from '../driver.ts'

export function prepareHistory(db: Database): (minutes: readonly MinuteNote[]) => void {
  // An existing row is from before the clock went back: its totals are the same, or less.
  const add = db.prepare(
    `INSERT INTO history (queue, step, at, enqueued, completed, failed, cancelled) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (queue, step, at) DO NOTHING`,
  )
  const forgetBefore = db.prepare('DELETE FROM history WHERE queue = ? AND step = ? AND at < ?')
  const forgetAfter = db.prepare('DELETE FROM history WHERE queue = ? AND step = ? AND at > ?')

  return (minutes) => {
    for (const { queue, at, before, totals } of minutes) {
      const note = (step: number, time: number, keptMs: number) => {
        if (before > at) forgetAfter.run(queue.id, step, time)
        forgetBefore.run(queue.id, step, time - keptMs)
        add.run(queue.id, step, time, totals.enqueued, totals.completed, totals.failed, totals.cancelled)
      }
      note(MINUTE, at, LIMITS.historyMinutesMs)
      if (hourOf(before) !== hourOf(at)) note(HOUR, hourOf(at), LIMITS.historyHoursMs)
    }
  }
}
