/** Reads what queues have done: their totals before each minute or hour. */
import type { HistoryStep } from '@millrace/core'
import type { Loaded, MinuteRow } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'

export const MINUTE = 0
export const HOUR = 1

type RawMinute = [at: number, enqueued: number, completed: number, failed: number, cancelled: number]

export function prepareMinutes(db: Database): (queueId: number, step: HistoryStep, from: number) => MinuteRow[] {
  const rows = db
    .prepare('SELECT at, enqueued, completed, failed, cancelled FROM history WHERE queue = ? AND step = ? AND at >= ? ORDER BY at')
    .raw()
  return (queueId, step, from) =>
    (rows.all(queueId, step === 'minute' ? MINUTE : HOUR, from) as RawMinute[]).map(([at, enqueued, completed, failed, cancelled]) => ({
      at,
      totals: { enqueued, completed, failed, cancelled },
    }))
}

export function prepareLastMinutes(db: Database): () => Loaded['minutes'] {
  const last = db
    .prepare(
      'SELECT id, (SELECT max(at) FROM history WHERE history.queue = queue.id AND history.step = 0) AS at FROM queue WHERE at IS NOT NULL',
    )
    .raw()
  return () => (last.all() as [number, number][]).map(([queueId, at]) => ({ queueId, at }))
}
