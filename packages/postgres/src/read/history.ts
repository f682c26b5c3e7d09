/** Reads what queues have done: their totals before each minute or hour, and how jobs have failed. */
import type { FailuresOrder, HistoryStep } from '@millrace/core'
import type { FailureRow, HistorySpan, MinuteRow, QueueMinutes } from '@millrace/core/kernel'
import { codeOf, failureFrom, type RawFailure } from '@millrace/sqlite/rows'
import type { Connection } from '../connection.ts'
import { isThere } from './queueNames.ts'

type RawMinute = [at: number, enqueued: number, completed: number, failed: number, cancelled: number]

export type ReadMinutes = (queueId: number, step: HistoryStep, from: number) => MinuteRow[]

export function prepareMinutes(connection: Connection): ReadMinutes {
  const sql = 'SELECT at, enqueued, completed, failed, cancelled FROM history WHERE queue = $1 AND step = $2 AND at >= $3 ORDER BY at'
  return (queueId, step, from) =>
    connection.all<RawMinute>(sql, queueId, codeOf(step), from).map(([at, enqueued, completed, failed, cancelled]) => ({
      at,
      totals: { enqueued, completed, failed, cancelled },
    }))
}

/** Ranks the queues by what they have counted in a span: between their totals before its first minute, and those behind its last. */
export function prepareHistories(
  connection: Connection,
  minutes: ReadMinutes,
): (span: HistorySpan, limit: number, visit: (queue: QueueMinutes) => void) => number {
  const counted = (where: string) =>
    `(SELECT enqueued + completed + failed + cancelled FROM history WHERE history.queue = queue.id AND step = $1 AND ${where} ORDER BY at LIMIT 1)`
  const sql = `WITH noted AS MATERIALIZED (
  SELECT queue.id, queue.name, ${counted('at >= $2 AND at < $3')} AS first, ${counted('at >= $3')} AS last FROM queue WHERE ${isThere('queue.name')}
), summed AS (
  SELECT noted.id, noted.name, coalesce(noted.last, sum(total_enqueued + total_completed + total_failed + total_cancelled)) - noted.first AS count,
    sum(total_enqueued)::bigint AS enqueued, sum(total_completed)::bigint AS completed, sum(total_failed)::bigint AS failed,
    sum(total_cancelled)::bigint AS cancelled
  FROM noted JOIN lane ON lane.queue = noted.id WHERE noted.first IS NOT NULL GROUP BY noted.id, noted.name, noted.first, noted.last
)
SELECT id, name, enqueued, completed, failed, cancelled FROM summed WHERE count > 0 ORDER BY count DESC, id`
  return ({ step, from, to }, limit, visit) => {
    const queues = connection.all<[number, string, number, number, number, number]>(sql, codeOf(step), from, to)
    for (const [id, name, enqueued, completed, failed, cancelled] of queues.slice(0, limit))
      visit({ name, minutes: minutes(id, step, from), totals: { enqueued, completed, failed, cancelled } })
    return queues.length
  }
}

const ORDERS: Readonly<Record<FailuresOrder, string>> = { last: 'last_at DESC', count: 'count DESC, last_at DESC' }

/** Reads failures by their kind. Their messages come from the last job that failed this way, as long as it exists. */
export function prepareFailures(
  connection: Connection,
): (laneIds: readonly number[] | undefined, limit: number, order: FailuresOrder) => FailureRow[] {
  const sql = (
    order: FailuresOrder,
  ) => `SELECT failure.lane, failure.fingerprint, error, count, first_at, last_at, hours, job.seq, job.node, job.enqueued_at, error_message
FROM failure LEFT JOIN job ON job.seq = failure.seq LEFT JOIN attempt ON attempt.seq = job.seq AND attempt.run = failure.run
WHERE $1::bigint[] IS NULL OR failure.lane = ANY ($1::bigint[]) ORDER BY ${ORDERS[order]} LIMIT $2`
  return (laneIds, limit, order) => connection.all<RawFailure>(sql(order), laneIds ?? null, limit).map(failureFrom)
}
