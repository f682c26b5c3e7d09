/** Reads which queues have done most in a span, and how jobs have failed. */
import type { FailuresOrder } from '@millrace/core'
import type { Store } from '@millrace/core/kernel'
import { codeOf, failureFrom, isThere, type RawFailure } from '@millrace/sql'
import type { Connection } from '../connection.ts'

const TOTALS = ['total_enqueued', 'total_completed', 'total_failed', 'total_cancelled']

type RawTotals = [id: number, name: string | null, first: number, last: number | null, ...totals: number[]]

/**
 * Ranks the queues by what they have counted in a span: between their totals before its first minute, and those behind its last. The lanes may
 * be behind the journal: what it adds to the totals of a queue comes in rows without a name.
 */
export function prepareHistories(connection: Connection, minutes: Store['minutes']): Store['histories'] {
  const counted = (where: string) =>
    `(SELECT enqueued + completed + failed + cancelled FROM history WHERE history.queue = queue.id AND step = $1 AND ${where} ORDER BY at LIMIT 1)`
  const sql = `WITH noted AS MATERIALIZED (
  SELECT queue.id, queue.name, ${counted('at >= $2 AND at < $3')} AS first, ${counted('at >= $3')} AS last FROM queue WHERE ${isThere('queue.name')}
)
SELECT noted.id, noted.name, noted.first, noted.last, ${TOTALS.map((name) => `sum(lane.${name})::bigint`).join(', ')}
FROM noted JOIN lane ON lane.queue = noted.id WHERE noted.first IS NOT NULL GROUP BY noted.id, noted.name, noted.first, noted.last
UNION ALL SELECT lane.queue, NULL, 0, NULL, ${TOTALS.map((name) => `sum(unfolded.${name} - lane.${name})::bigint`).join(', ')}
FROM unfolded JOIN lane ON lane.id = unfolded.id GROUP BY lane.queue`
  return ({ step, from, to }, limit, visit) => {
    const rows = connection.all<RawTotals>(sql, codeOf(step), from, to)
    const unfolded = new Map(rows.filter(([, name]) => name === null).map(([id, , , , ...added]) => [id, added]))
    const queues = rows.flatMap(([id, name, first, last, ...folded]) => {
      if (name === null) return []
      const totals = folded.map((total, place) => total + (unfolded.get(id)?.[place] ?? 0))
      return [{ id, name, totals, count: (last ?? totals.reduce((sum, total) => sum + total)) - first }]
    })
    const ranked = queues.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count || a.id - b.id)
    for (const { id, name, totals } of ranked.slice(0, limit)) {
      const [enqueued, completed, failed, cancelled] = totals as [number, number, number, number]
      visit({ name, minutes: minutes(id, step, from), totals: { enqueued, completed, failed, cancelled } })
    }
    return ranked.length
  }
}

const ORDERS: Readonly<Record<FailuresOrder, string>> = { last: 'last_at DESC', count: 'count DESC, last_at DESC' }

/** Reads failures by their kind. Their messages come from the last job that failed this way, as long as it exists. */
export function prepareFailures(connection: Connection): Store['failures'] {
  const sql = (
    order: FailuresOrder,
  ) => `SELECT failure.lane, failure.fingerprint, error, count, first_at, last_at, hours, job.seq, job.node, job.enqueued_at, error_message
FROM failure LEFT JOIN job ON job.seq = failure.seq LEFT JOIN attempt ON attempt.seq = job.seq AND attempt.run = failure.run
WHERE $1::bigint[] IS NULL OR failure.lane = ANY ($1::bigint[]) ORDER BY ${ORDERS[order]} LIMIT $2`
  return (laneIds, limit, order) => connection.all<RawFailure>(sql(order), laneIds ?? null, limit).map(failureFrom)
}
