/** The rows that a look goes through by their arrival: those of a tag, those of states that an index has, or all. */
import { FAILED, type ListFilter, SCHEDULED, type StateCode, statesOf } from '@millrace/core'
import type { spanOf } from '@millrace/core/kernel'
import type { Database, Statement } from '../driver.ts'
import { firstOf, prepareTagBlocks } from '../tags.ts'
import type { Part } from './scan.ts'
import { type Lanes, prepareFailedLanes, prepareStateSeqs, RETRYING } from './selection.ts'

/** The rows of a part. */
export const PART_ROWS = 512
const RANGE_ROWS = 1_024
const NO_SEQ = Number.MAX_SAFE_INTEGER

/** The row behind which the parts begin, and their direction. */
export interface Arrival {
  readonly seq: number
  /** True: the oldest first. */
  readonly ascending: boolean
}

type Span = ReturnType<typeof spanOf>

export interface ArrivalParts {
  /** Yields the rows of a span. */
  all(from: Arrival, span: Span): Iterable<Part>
  tagged(tag: string, from: Arrival): Iterable<Part>
  /**
   * Yields the rows of lanes in the states of a filter, all of which indexes read at once; undefined if there are more than so many. They may
   * be of other lanes, too.
   */
  inStates(lanes: Lanes, filter: ListFilter, from: Arrival, few: number): Iterable<Part> | undefined
}

export function prepareArrivalParts(db: Database): ArrivalParts {
  const newest = db.prepare('SELECT max(seq) FROM job WHERE seq < ?').pluck()
  const oldest = db.prepare('SELECT min(seq) FROM job WHERE seq > ?').pluck()
  const tagSeqs = (condition: string) => db.prepare(`SELECT seq FROM tag WHERE block = ? AND tag = ? AND seq ${condition}`).pluck()
  const ofTag = { newest: tagSeqs('< ? ORDER BY seq DESC'), oldest: tagSeqs('> ? ORDER BY seq') }
  const blocks = { newest: prepareTagBlocks(db, 'newest'), oldest: prepareTagBlocks(db, 'oldest') }
  const seqsOf = prepareSeqsInState(db)
  const lastSeq = () => newest.get(NO_SEQ) as number

  return {
    *all({ seq, ascending }, { first, last }) {
      for (let place = ascending ? Math.max(seq, first - 1) : Math.min(seq, last + 1); ; ) {
        const next = (ascending ? oldest : newest).get(place) as number | null
        if (next === null || next < first || next > last) return
        // Not beyond the last row: those that arrive before the next page are behind its place.
        const far = ascending ? Math.min(next + RANGE_ROWS - 1, last, lastSeq()) : Math.max(first, next - RANGE_ROWS + 1)
        yield { rows: { first: Math.min(next, far), last: Math.max(next, far), ascending }, end: { seq: far } }
        place = far
      }
    },
    *tagged(tag, { seq, ascending }) {
      const way = ascending ? 'oldest' : 'newest'
      for (const { block, asked } of blocks[way](tag, seq)) {
        yield* partsOf(ofTag[way].all(block, tag, seq) as number[])
        const far = ascending ? firstOf(block + 1) - 1 : Math.min(seq, firstOf(block))
        // Nothing is behind the last row: its place would be that of every further page.
        if (!ascending || far < lastSeq()) yield { rows: [], end: { seq: far }, asked }
      }
    },
    inStates(lanes, filter, { seq, ascending }, few) {
      const seqs: number[] = []
      const states = statesOf(filter)
      if (states === undefined) return undefined
      for (const state of states) {
        const found = seqsOf(lanes, state, filter, ascending ? NO_SEQ : seq, few)
        if (found === undefined) return undefined
        for (const each of found) if (!ascending || each > seq) seqs.push(each)
      }
      return partsOf(seqs.sort((a, b) => (ascending ? a - b : b - a)))
    },
  }
}

type SeqsInState = (lanes: Lanes, state: StateCode, filter: ListFilter, before: number, few: number) => readonly number[] | undefined

/** Reads all rows before one that are in a state; undefined if there are more than `few`, of failed ones in the span of the filter. */
function prepareSeqsInState(db: Database): SeqsInState {
  const seqsOf = prepareStateSeqs(db)
  const pluck = (sql: string): Statement => db.prepare(sql).pluck()
  const scheduled = pluck('SELECT seq FROM job INDEXED BY job_scheduled WHERE state = 0 ORDER BY run_at, seq LIMIT ?')
  const retrying = pluck(`SELECT seq FROM job INDEXED BY job_retrying WHERE ${RETRYING} ORDER BY run_at, seq LIMIT ?`)
  const failed = pluck(`SELECT seq FROM job
WHERE lane = ? AND state = ${FAILED} AND finished_at >= ? AND finished_at < ? ORDER BY finished_at, seq LIMIT ?`)

  const withFailed = prepareFailedLanes(db)

  const read = (lanes: Lanes, state: StateCode, filter: ListFilter, few: number): readonly number[] | undefined => {
    // Rows say the lane, not the index: they are read by the look, which is bounded.
    if (state === SCHEDULED) {
      const found = (filter.retrying === true ? retrying : scheduled).all(few + 1) as number[]
      return found.length > few ? undefined : found
    }
    if (state !== FAILED) return seqsOf(lanes, state, few)
    const { finishedAfter = 0, finishedBefore = Number.MAX_SAFE_INTEGER } = filter
    const seqs: number[] = []
    for (const lane of withFailed(lanes)) {
      for (const seq of failed.all(lane, finishedAfter, finishedBefore, few + 1 - seqs.length) as number[]) seqs.push(seq)
      if (seqs.length > few) return undefined
    }
    return seqs
  }

  return (lanes, state, filter, before, few) => read(lanes, state, filter, few)?.filter((seq) => seq < before)
}

function* partsOf(seqs: readonly number[]): Generator<Part, void> {
  for (let from = 0; from < seqs.length; from += PART_ROWS) {
    const rows = seqs.slice(from, from + PART_ROWS).map((seq) => ({ seq }))
    yield { rows, end: rows.at(-1) as { readonly seq: number } }
  }
}
