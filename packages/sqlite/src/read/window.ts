/** Reads the next waiting jobs of a lane in its order: priority, then due time, then row. */
import type { JobRow, LaneCursor } from '@millrace/core/kernel'
import { payloadBytes, type RawRow, ROW_COLUMNS, rowFrom } from '@millrace/sql'
import type { Database } from '../driver.ts'
import type { Bounded } from './bounded.ts'

export type ReadWindow = (laneId: number, after: LaneCursor | undefined, jobs: number, bytes: number) => Bounded

type ReadChunk = (id: number, after: LaneCursor | undefined, limit: number) => RawRow[]

/** Rows per read: few at first, because each may be a megabyte; then as many as fit the bytes, once their size is known. */
const FIRST_CHUNK = 16
const LARGEST_CHUNK = 256

/** Reads chunks by `all`, at 1,000k rows per second; row by row, by `iterate`, it is 600k. */
export function prepareWindow(db: Database): ReadWindow {
  return inChunks(prepareChunk(db, 'job.state = 1 AND job.gate IS NULL AND job.lane = ?'))
}

/** Reads the next parked jobs of a gate. */
export function prepareParked(db: Database): ReadWindow {
  return inChunks(prepareChunk(db, 'job.gate = ?'))
}

function inChunks(readChunk: ReadChunk): ReadWindow {
  return (laneId, after, jobs, bytesMax) => {
    const rows: JobRow[] = []
    let bytes = 0
    let cursor = after
    let chunk = FIRST_CHUNK
    for (;;) {
      // One more than wanted shows whether that was all.
      const size = Math.min(chunk, jobs - rows.length + 1)
      const read = readChunk(laneId, cursor, size)
      for (const raw of read) {
        bytes += payloadBytes(raw)
        if (rows.length > 0 && (rows.length >= jobs || bytes > bytesMax)) return { rows, complete: false }
        rows.push(rowFrom(raw))
      }
      if (read.length < size) return { rows, complete: true }
      cursor = rows.at(-1)
      const fitting = Math.floor(((bytesMax - bytes) * rows.length) / Math.max(bytes, 1)) + 1
      chunk = Math.min(LARGEST_CHUNK, fitting)
    }
  }
}

/**
 * Reads from a place on: first the jobs that became due in the same millisecond, by row, then all later ones. In one comparison
 * of three values, SQLite would use only two of the index, and read a large batch of equal due times again for every window.
 */
function prepareChunk(db: Database, line: string): ReadChunk {
  const lane = `SELECT ${ROW_COLUMNS} FROM job WHERE ${line}`
  const first = db.prepare(`${lane} ORDER BY job.rank, job.run_at, job.seq LIMIT ?`).raw()
  const equal = db.prepare(`${lane} AND job.rank = ? AND job.run_at = ? AND job.seq > ? ORDER BY job.seq LIMIT ?`).raw()
  const later = db.prepare(`${lane} AND (job.rank, job.run_at) > (?, ?) ORDER BY job.rank, job.run_at, job.seq LIMIT ?`).raw()
  return (laneId, after, limit) => {
    if (after === undefined) return first.all(laneId, limit) as RawRow[]
    const rank = 0 - after.priority
    const rows = equal.all(laneId, rank, after.runAt, after.seq, limit) as RawRow[]
    if (rows.length < limit) rows.push(...(later.all(laneId, rank, after.runAt, limit - rows.length) as RawRow[]))
    return rows
  }
}

/** Returns when the longest waiting job of a lane became due: the earliest of each priority's first, hopping from one to the next. */
export function prepareOldestWaiting(db: Database): (laneId: number) => number {
  return prepareOldest(db, 'job.state = 1 AND job.gate IS NULL AND job.lane')
}

export function prepareOldestParked(db: Database): (backlogId: number) => number {
  return prepareOldest(db, 'job.gate')
}

function prepareOldest(db: Database, place: string): (id: number) => number {
  const statement = db
    .prepare(
      `WITH RECURSIVE line (id) AS (SELECT ?), hop (rank) AS (
  SELECT (SELECT job.rank FROM job WHERE ${place} = line.id ORDER BY job.rank LIMIT 1) FROM line
  UNION ALL
  SELECT (SELECT job.rank FROM job WHERE ${place} = line.id AND job.rank > hop.rank ORDER BY job.rank LIMIT 1)
  FROM hop, line WHERE hop.rank IS NOT NULL
)
SELECT min((SELECT job.run_at FROM job WHERE ${place} = line.id AND job.rank = hop.rank ORDER BY job.run_at LIMIT 1))
FROM hop, line WHERE hop.rank IS NOT NULL`,
    )
    .pluck()
  return (id) => (statement.get(id) as number | null) ?? 0
}
