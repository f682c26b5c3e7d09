/**
 * Reads one page of a list, newest first. No index serves every filter, so the lanes' counters decide the plan. If few rows can
 * match, they are all found through an index and sorted. If many can, walking back through the table meets them soon.
 */
import type { ListFilter } from '@millrace/core'
import type { JobRow } from '@millrace/core/kernel'
import type { Database, SqlValue } from '../driver.ts'
import { type RawRow, ROW_COLUMNS, rowFrom } from '../tables/job.ts'
import { prepareTagBlocks } from '../tags.ts'
import { prepareJobs } from './jobs.ts'
import { prepareSelection } from './selection.ts'

export type ReadPage = (filter: ListFilter, before: number | undefined, limit: number) => JobRow[]

export function preparePage(db: Database): ReadPage {
  const byTag = db
    .prepare(
      `SELECT ${ROW_COLUMNS} FROM tag CROSS JOIN job ON job.seq = tag.seq
WHERE tag.block = ? AND tag.tag = ? AND tag.seq < ? AND (? IS NULL OR job.state = ?) AND (? IS NULL OR job.lane IN (SELECT value FROM json_each(?)))
ORDER BY tag.seq DESC LIMIT ?`,
    )
    .raw()
  const walk = db
    .prepare(
      `SELECT ${ROW_COLUMNS} FROM job
WHERE job.seq < ? AND (? IS NULL OR +job.state = ?) AND (? IS NULL OR +job.lane IN (SELECT value FROM json_each(?)))
ORDER BY job.seq DESC LIMIT ?`,
    )
    .raw()
  const blocks = prepareTagBlocks(db)
  const jobs = prepareJobs(db)
  const select = prepareSelection(db)

  // A reader's statements see one moment only within a transaction. Otherwise a job that is removed in between would end the list.
  return db.transaction((filter: ListFilter, before: number = Number.MAX_SAFE_INTEGER, limit: number): JobRow[] => {
    const selection = select(filter)
    if (selection.matches === 0) return []
    const state = filter.state ?? null
    const lanes = selection.narrow ? JSON.stringify(selection.laneIds) : null
    const read = (statement: typeof walk, values: readonly SqlValue[]) => (statement.all(...values) as RawRow[]).map(rowFrom)
    if (filter.tag !== undefined) {
      const rows: JobRow[] = []
      for (const { block } of blocks(filter.tag, before)) {
        rows.push(...read(byTag, [block, filter.tag, before, state, state, lanes, lanes, limit - rows.length]))
        if (rows.length === limit) break
      }
      return rows
    }
    if (selection.scanned < walkLength(selection, limit)) return jobs(selection.seqs(before, limit))
    return read(walk, [before, state, state, lanes, lanes, limit])
  })
}

/** Returns the number of rows that a walk is likely to see before it has a page. One step costs about as much as an index entry. */
function walkLength({ matches, total }: { matches: number; total: number }, limit: number): number {
  return matches <= limit ? total : (limit * total) / matches
}
