/** Reads what queues have done: their totals before each minute or hour. */
import type { HistoryStep } from '@millrace/core'
import type { Store } from '@millrace/core/kernel'
import type { Prepare } from '../query.ts'

export const MINUTE = 0
export const HOUR = 1

type RawMinute = [at: number, enqueued: number, completed: number, failed: number, cancelled: number]

export function prepareMinutes(prepare: Prepare): Store['minutes'] {
  const rows = prepare<RawMinute>(
    'SELECT at, enqueued, completed, failed, cancelled FROM history WHERE queue = ? AND step = ? AND at >= ? ORDER BY at',
  )
  return (queueId, step, from) =>
    rows.all(queueId, codeOf(step), from).map(([at, enqueued, completed, failed, cancelled]) => ({
      at,
      totals: { enqueued, completed, failed, cancelled },
    }))
}

export function codeOf(step: HistoryStep): number {
  return step === 'minute' ? MINUTE : HOUR
}
