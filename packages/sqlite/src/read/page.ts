/**
 * Finds one page of a list, newest first. No index serves every filter, so the lanes' counters decide the plan. If few rows can
 * match, they are all found through an index and sorted. If many can, walking back through the table meets them soon.
 */
import { type ListFilter, statesOf } from '@millrace/core'
import type { Database, SqlValue } from '../driver.ts'
import { prepareTagBlocks } from '../tags.ts'
import { prepareSelection } from './selection.ts'

/** Returns row numbers, newest first. */
export type FindPage = (filter: ListFilter, before: number, limit: number) => number[]

export function preparePage(db: Database): FindPage {
  const byTag = db
    .prepare(
      `SELECT job.seq FROM tag CROSS JOIN job ON job.seq = tag.seq
WHERE tag.block = ? AND tag.tag = ? AND tag.seq < ? AND (? IS NULL OR job.state = ?) AND (? IS NULL OR job.lane IN (SELECT value FROM json_each(?)))
ORDER BY tag.seq DESC LIMIT ?`,
    )
    .pluck()
  const walk = db
    .prepare(
      `SELECT job.seq FROM job
WHERE job.seq < ? AND (? IS NULL OR +job.state = ?) AND (? IS NULL OR +job.lane IN (SELECT value FROM json_each(?)))
ORDER BY job.seq DESC LIMIT ?`,
    )
    .pluck()
  const blocks = prepareTagBlocks(db, 'newest')
  const select = prepareSelection(db)

  return (filter, before, limit) => {
    const selection = select(filter)
    if (selection.matches === 0) return []
    const state = filter.state ?? null
    const lanes = selection.narrow ? JSON.stringify(selection.laneIds) : null
    const read = (statement: typeof walk, values: readonly SqlValue[]) => statement.all(...values) as number[]
    if (filter.tag !== undefined) {
      const seqs: number[] = []
      for (const { block } of blocks(filter.tag, before)) {
        seqs.push(...read(byTag, [block, filter.tag, before, state, state, lanes, lanes, limit - seqs.length]))
        if (seqs.length === limit) break
      }
      return seqs
    }
    if (selection.scanned(statesOf(filter)) < walkLength(selection, limit)) return selection.seqs(before, limit)
    return read(walk, [before, state, state, lanes, lanes, limit])
  }
}

/** Returns the number of rows that a walk is likely to see before it has a page. One step costs about as much as an index entry. */
function walkLength({ matches, total }: { matches: number; total: number }, limit: number): number {
  return matches <= limit ? total : (limit * total) / matches
}
