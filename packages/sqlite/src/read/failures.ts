/** Reads failures by their kind. Their messages come from the last job that failed this way, as long as it exists. */
import type { FailuresOrder } from '@millrace/core'
import type { FailureRow } from '@millrace/core/kernel'
import { failureFrom, type RawFailure } from '@millrace/sql'
import type { Database } from '../driver.ts'

/** There are at most `LIMITS.failureGroups` kinds, so the one without an index is sorted. */
const ORDERS: Readonly<Record<FailuresOrder, { readonly index: string; readonly by: string }>> = {
  last: { index: 'INDEXED BY failure_last', by: 'last_at DESC' },
  count: { index: 'NOT INDEXED', by: 'count DESC, last_at DESC' },
}

export function prepareFailures(
  db: Database,
): (laneIds: readonly number[] | undefined, limit: number, order: FailuresOrder) => FailureRow[] {
  const prepare = ({ index, by }: (typeof ORDERS)[FailuresOrder], filter: string) =>
    db
      .prepare(
        `SELECT failure.lane, fingerprint, error, count, first_at, last_at, hours, job.seq, job.node, job.enqueued_at, error_message
FROM failure ${index} LEFT JOIN job ON job.seq = failure.seq
LEFT JOIN attempt ON attempt.seq = job.seq AND attempt.run = failure.run
${filter} ORDER BY ${by} LIMIT ?`,
      )
      .raw()
  const ofOrder = (order: FailuresOrder) => ({
    all: prepare(ORDERS[order], ''),
    some: prepare(ORDERS[order], 'WHERE failure.lane IN (SELECT value FROM json_each(?))'),
  })
  const statements = { last: ofOrder('last'), count: ofOrder('count') }
  return (laneIds, limit, order) => {
    const { all, some } = statements[order]
    return ((laneIds === undefined ? all.all(limit) : some.all(JSON.stringify(laneIds), limit)) as RawFailure[]).map(failureFrom)
  }
}
