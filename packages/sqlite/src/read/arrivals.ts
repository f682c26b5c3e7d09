/** Reads the jobs of a queue that drops its oldest, by arrival. */
import { ROW_COLUMNS_WITHOUT_DATA } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { type Bounded, readBounded } from './bounded.ts'

export function prepareArrivals(db: Database): (queueId: number, limit: number, bytes: number) => Bounded {
  const statement = db
    .prepare(`SELECT ${ROW_COLUMNS_WITHOUT_DATA} FROM job WHERE job.dropping = ? AND job.state IN (0, 1) ORDER BY job.seq LIMIT ?`)
    .raw()
  // One more than wanted shows whether that was all.
  return (queueId, limit, bytesMax) => readBounded(statement, [queueId, limit + 1], limit, bytesMax)
}
