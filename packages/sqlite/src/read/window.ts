/** The next waiting jobs of a lane in its order: priority, then due time, then row. */
import type { LaneCursor } from '@millrace/core'
import type { Database } from '../driver.ts'
import { type Bounded, readBounded } from './bounded.ts'
import { ROW_COLUMNS } from './row.ts'

export type ReadWindow = (laneId: number, after: LaneCursor | undefined, jobs: number, bytes: number) => Bounded

export function prepareWindow(db: Database): ReadWindow {
  const order = 'ORDER BY job.rank, job.run_at, job.seq'
  const first = db.prepare(`SELECT ${ROW_COLUMNS} FROM job WHERE job.state = 1 AND job.lane = ? ${order}`).raw()
  const next = db
    .prepare(`SELECT ${ROW_COLUMNS} FROM job WHERE job.state = 1 AND job.lane = ? AND (job.rank, job.run_at, job.seq) > (?, ?, ?) ${order}`)
    .raw()
  return (laneId, after, jobs, bytes) =>
    after === undefined
      ? readBounded(first, [laneId], jobs, bytes)
      : readBounded(next, [laneId, 0 - after.priority, after.runAt, after.seq], jobs, bytes)
}

/** When the longest waiting job of a lane became due: the earliest of each priority's first, hopping from one to the next. */
export function prepareOldestWaiting(db: Database): (laneId: number) => number {
  const statement = db
    .prepare(
      `WITH RECURSIVE lane (id) AS (SELECT ?), hop (rank) AS (
  SELECT (SELECT job.rank FROM job WHERE job.state = 1 AND job.lane = lane.id ORDER BY job.rank LIMIT 1) FROM lane
  UNION ALL
  SELECT (SELECT job.rank FROM job WHERE job.state = 1 AND job.lane = lane.id AND job.rank > hop.rank ORDER BY job.rank LIMIT 1)
  FROM hop, lane WHERE hop.rank IS NOT NULL
)
SELECT min((SELECT job.run_at FROM job WHERE job.state = 1 AND job.lane = lane.id AND job.rank = hop.rank ORDER BY job.run_at LIMIT 1))
FROM hop, lane WHERE hop.rank IS NOT NULL`,
    )
    .pluck()
  return (laneId) => (statement.get(laneId) as number | null) ?? 0
}
