/** The rows that a look goes through, newest first: those of a tag, those of a state that an index has, or all. */
import { FAILED, type ListFilter, SCHEDULED, type StateCode } from '@millrace/core'
import type { Database } from '../driver.ts'
import { firstOf, prepareTagBlocks } from '../tags.ts'
import type { Part } from './look.ts'
import { prepareStateSeqs, RETRYING } from './selection.ts'

/** The rows of a part. */
export const PART_ROWS = 512
const RANGE_ROWS = 1_024

/** A filter that names the state. */
export type InState = Pick<ListFilter, 'retrying'> & { readonly state: StateCode }

export interface NewestParts {
  /** Yields the rows before one. */
  all(before: number): Iterable<Part>
  tagged(tag: string, before: number): Iterable<Part>
  /** Yields the rows of lanes in a state, all of which an index reads at once. They may be of other lanes, too. */
  inState(laneIds: readonly number[], filter: InState, before: number): Iterable<Part>
  /** Yields the failed jobs that may fit, or undefined if there are more than so many. */
  failed(laneIds: readonly number[], filter: ListFilter, before: number, few: number): Iterable<Part> | undefined
}

export function prepareNewestParts(db: Database): NewestParts {
  const newest = db.prepare('SELECT max(seq) FROM job WHERE seq < ?').pluck()
  const ofTag = db.prepare('SELECT seq FROM tag WHERE block = ? AND tag = ? AND seq < ? ORDER BY seq DESC').pluck()
  const blocks = prepareTagBlocks(db)
  const seqsOf = prepareStateSeqs(db)
  const scheduled = db.prepare('SELECT seq FROM job INDEXED BY job_scheduled WHERE state = 0 AND seq < ? ORDER BY seq DESC').pluck()
  const retrying = db.prepare(`SELECT seq FROM job INDEXED BY job_retrying WHERE ${RETRYING} AND seq < ? ORDER BY seq DESC`).pluck()
  const failedSeqs = db
    .prepare(
      `SELECT seq FROM job
WHERE lane = ? AND state = ${FAILED} AND finished_at >= ? AND finished_at < ? ORDER BY finished_at, seq LIMIT ?`,
    )
    .pluck()

  return {
    *all(before) {
      for (let end = before; ; ) {
        const last = newest.get(end) as number | null
        if (last === null) return
        const first = Math.max(0, last - RANGE_ROWS + 1)
        yield { rows: { first, last }, end: { seq: first } }
        end = first
      }
    },
    *tagged(tag, before) {
      for (const { block, asked } of blocks(tag, before)) {
        const seqs = ofTag.all(block, tag, before) as number[]
        yield* partsOf(seqs)
        yield { rows: [], end: { seq: Math.min(before, firstOf(block)) }, asked }
      }
    },
    inState(laneIds, filter, before) {
      const { state } = filter
      // Rows say the lane, not the index: they are read by the look, which is bounded.
      if (state === SCHEDULED) return partsOf((filter.retrying === true ? retrying : scheduled).all(before) as number[])
      return partsOf(seqsOf(laneIds, state, before, Number.MAX_SAFE_INTEGER))
    },
    failed(laneIds, { finishedAfter = 0, finishedBefore = Number.MAX_SAFE_INTEGER }, before, few) {
      const seqs: number[] = []
      for (const lane of laneIds) {
        for (const seq of failedSeqs.all(lane, finishedAfter, finishedBefore, few + 1 - seqs.length) as number[]) seqs.push(seq)
        if (seqs.length > few) return undefined
      }
      return partsOf(seqs.filter((seq) => seq < before).sort((a, b) => b - a))
    },
  }
}

function* partsOf(seqs: readonly number[]): Generator<Part, void> {
  for (let from = 0; from < seqs.length; from += PART_ROWS) {
    const rows = seqs.slice(from, from + PART_ROWS).map((seq) => ({ seq }))
    yield { rows, end: rows.at(-1) as { readonly seq: number } }
  }
}
