/** Reads which queues have done most in a span. */
import type { HistorySpan, LaneTotals, QueueMinutes, Store } from '@millrace/core/kernel'
import { codeOf, isThere } from '@millrace/sql'
import type { Database } from '../driver.ts'

/** Ranks the queues by what they have counted in a span: between their totals before its first minute, and those behind its last. */
export function prepareHistories(db: Database, minutes: Store['minutes']): Store['histories'] {
  const counted = (where: string) =>
    `(SELECT enqueued + completed + failed + cancelled FROM history WHERE history.queue = queue.id AND step = ? AND ${where} ORDER BY at LIMIT 1)`
  const active = db
    .prepare(
      `WITH noted AS MATERIALIZED (
  SELECT queue.id, queue.name, ${counted('at >= ? AND at < ?')} AS first, ${counted('at >= ?')} AS last FROM queue WHERE ${isThere('queue.name')}
)
SELECT noted.id, noted.name, coalesce(last, sum(total_enqueued + total_completed + total_failed + total_cancelled)) - first AS count
FROM noted JOIN lane ON lane.queue = noted.id WHERE first IS NOT NULL GROUP BY noted.id HAVING count > 0 ORDER BY count DESC, noted.id`,
    )
    .raw()
  const totals = db.prepare(
    `SELECT sum(total_enqueued) AS enqueued, sum(total_completed) AS completed, sum(total_failed) AS failed, sum(total_cancelled) AS cancelled
FROM lane WHERE queue = ?`,
  )
  // In one transaction, so that the totals of now are not older than the last minute.
  return db.transaction(({ step, from, to }: HistorySpan, limit: number, visit: (queue: QueueMinutes) => void): number => {
    const code = codeOf(step)
    const queues = active.all(code, from, to, code, to) as [id: number, name: string][]
    for (const [id, name] of queues.slice(0, limit)) visit({ name, minutes: minutes(id, step, from), totals: totals.get(id) as LaneTotals })
    return queues.length
  })
}
