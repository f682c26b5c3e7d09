/** Reads what queues have done: their totals before each minute or hour. */
import type { HistoryStep } from '@millrace/core'
import type { HistorySpan, LaneTotals, Loaded, MinuteRow, QueueMinutes } from '@millrace/core/kernel'
import { codeOf, isThere } from '@millrace/sql'
import type { Database } from '../driver.ts'

type RawMinute = [at: number, enqueued: number, completed: number, failed: number, cancelled: number]

type ReadMinutes = (queueId: number, step: HistoryStep, from: number) => MinuteRow[]

export function prepareMinutes(db: Database): ReadMinutes {
  const rows = db
    .prepare('SELECT at, enqueued, completed, failed, cancelled FROM history WHERE queue = ? AND step = ? AND at >= ? ORDER BY at')
    .raw()
  return (queueId, step, from) =>
    (rows.all(queueId, codeOf(step), from) as RawMinute[]).map(([at, enqueued, completed, failed, cancelled]) => ({
      at,
      totals: { enqueued, completed, failed, cancelled },
    }))
}

/** Ranks the queues by what they have counted in a span: between their totals before its first minute, and those behind its last. */
export function prepareHistories(
  db: Database,
  minutes: ReadMinutes,
): (span: HistorySpan, limit: number, visit: (queue: QueueMinutes) => void) => number {
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

export function prepareLastMinutes(db: Database): () => Loaded['minutes'] {
  const last = db
    .prepare(
      'SELECT id, (SELECT max(at) FROM history WHERE history.queue = queue.id AND history.step = 0) AS at FROM queue WHERE at IS NOT NULL',
    )
    .raw()
  return () => (last.all() as [number, number][]).map(([queueId, at]) => ({ queueId, at }))
}
