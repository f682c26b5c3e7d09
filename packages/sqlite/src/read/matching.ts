/**
 * Reads a slice of the jobs that a filter matches, newest first. No index serves every filter, and none may be read whole in a
 * turn. If few jobs are in the state, its index finds them. Otherwise a bounded walk finds them, and reports how far it has come.
 */
import { LIMITS, type StateCode } from '@millrace/core'
import type { JobRow, Matching } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { firstOf, prepareTagBlocks } from '../tags.ts'
import { prepareJobsWithin } from './jobs.ts'
import { prepareStateSeqs } from './selection.ts'

export type ReadMatching = (filter: Matching, before: number, limit: number) => { rows: JobRow[]; next: number | null }

type Seen = [seq: number, lane: number, state: StateCode]

/** The limit for one slice's payloads: a slice of large ones is shorter than requested. */
const SLICE_BYTES = 16 * 2 ** 20

export function prepareMatching(db: Database): ReadMatching {
  const walk = db.prepare('SELECT seq, lane, state FROM job WHERE seq < ? ORDER BY seq DESC LIMIT ?').raw()
  const byTag = db
    .prepare(
      `SELECT job.seq, job.lane, job.state FROM tag CROSS JOIN job ON job.seq = tag.seq
WHERE tag.block = ? AND tag.tag = ? AND tag.seq < ? ORDER BY tag.seq DESC LIMIT ?`,
    )
    .raw()
  const blocks = prepareTagBlocks(db)
  const seqsOf = prepareStateSeqs(db)
  const jobs = prepareJobsWithin(db, SLICE_BYTES)

  const walked = (before: number): { seen: Seen[]; next: number | null } => {
    const seen = walk.all(before, LIMITS.walkRows) as Seen[]
    return { seen, next: seen.length < LIMITS.walkRows ? null : (seen.at(-1) as Seen)[0] }
  }

  /** Counts a block as a row. */
  const tagged = (tag: string, before: number): { seen: Seen[]; next: number | null } => {
    const seen: Seen[] = []
    let left: number = LIMITS.walkRows
    for (const { block, asked } of blocks(tag, before)) {
      const found = byTag.all(block, tag, before, left) as Seen[]
      seen.push(...found)
      if (found.length === left) return { seen, next: (found.at(-1) as Seen)[0] }
      left -= found.length + asked
      if (left <= 0) return { seen, next: firstOf(block) }
    }
    return { seen, next: null }
  }

  const look = ({ laneIds, state, tag, indexed }: Matching, before: number, limit: number): { seqs: number[]; next: number | null } => {
    if (indexed && laneIds !== undefined && state !== undefined) {
      const seqs = seqsOf(laneIds, state, before, limit)
      return { seqs, next: seqs.length < limit ? null : (seqs.at(-1) as number) }
    }
    const { seen, next } = tag === undefined ? walked(before) : tagged(tag, before)
    const lanes = laneIds && new Set(laneIds)
    const seqs: number[] = []
    for (const [seq, lane, rowState] of seen) {
      if (seqs.length === limit) return { seqs, next: seqs.at(-1) as number }
      if ((state === undefined || rowState === state) && lanes?.has(lane) !== false) seqs.push(seq)
    }
    return { seqs, next }
  }

  return (filter, before, limit) => {
    const { seqs, next } = look(filter, before, limit)
    const rows = jobs(seqs)
    return { rows, next: rows.length < seqs.length ? (rows.at(-1) as JobRow).seq : next }
  }
}
