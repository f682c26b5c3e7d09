/**
 * Finds one page of a list, newest first. No index serves every filter, and nothing says beforehand what is cheaper: to walk back through the
 * table until a page is full, or to read all that an index has. So it does both in turns, each time for twice as many rows.
 */
import type { ListFilter } from '@millrace/core'
import type { Database } from '../driver.ts'
import { prepareTagBlocks } from '../tags.ts'
import { IN_LANES, laneValues, prepareSelection, prepareStateSeqs } from './selection.ts'

/** Returns row numbers, newest first. */
export type FindPage = (filter: ListFilter, before: number, limit: number) => number[]

/** The rows of the first walk. */
const WALK_ROWS = 256

export function preparePage(db: Database): FindPage {
  const byTag = db
    .prepare(
      `SELECT job.seq FROM tag CROSS JOIN job ON job.seq = tag.seq
WHERE tag.block = ? AND tag.tag = ? AND tag.seq < ? AND (? IS NULL OR job.state = ?) AND ${IN_LANES}
ORDER BY tag.seq DESC LIMIT ?`,
    )
    .pluck()
  const walk = db
    .prepare(
      `SELECT job.seq FROM job WHERE job.seq BETWEEN ? AND ? AND (? IS NULL OR +job.state = ?) AND ${IN_LANES}
ORDER BY job.seq DESC LIMIT ?`,
    )
    .pluck()
  const newest = db.prepare('SELECT max(seq) FROM job WHERE seq < ?').pluck()
  const blocks = prepareTagBlocks(db, 'newest')
  const select = prepareSelection(db)
  const seqsOf = prepareStateSeqs(db)

  return (filter, before, limit) => {
    const { lanes, matches } = select(filter)
    if (matches === 0) return []
    const state = filter.state ?? null
    const within = laneValues(lanes)
    const seqs: number[] = []
    if (filter.tag !== undefined) {
      for (const { block } of blocks(filter.tag, before)) {
        seqs.push(...(byTag.all(block, filter.tag, before, state, state, ...within, limit - seqs.length) as number[]))
        if (seqs.length === limit) break
      }
      return seqs
    }
    for (let rows = WALK_ROWS, place = before; ; rows *= 2) {
      const last = newest.get(place) as number | null
      if (last === null) return seqs
      place = last - rows + 1
      seqs.push(...(walk.all(place, last, state, state, ...within, limit - seqs.length) as number[]))
      if (seqs.length === limit) return seqs
      const indexed = filter.state === undefined ? undefined : seqsOf(lanes, filter.state, rows)
      if (indexed !== undefined) return newestOf(indexed, before, limit)
    }
  }
}

function newestOf(seqs: readonly number[], before: number, limit: number): number[] {
  return seqs
    .filter((seq) => seq < before)
    .sort((a, b) => b - a)
    .slice(0, limit)
}
