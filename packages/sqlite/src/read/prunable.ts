/**
 * Reads finished jobs that have been kept long enough, from the batches in which they finished. A batch is a hint: a job in it
 * that was brought back or deleted since is skipped, and forgotten with the batch.
 */
import type { StateCode } from '@millrace/core'
import type { KeptQuery, Prunable, PrunableRow } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { packRanges, type Range, rangesOf, seqsIn, unpackRanges } from '../seqs.ts'
import { extrasFrom } from '../tables/job.ts'
import { prepareBatches } from './batches.ts'

/** The batch up to which all are forgotten, and the rest of it that stays. */
export interface PruneToken {
  readonly queueId: number
  readonly state: StateCode
  readonly turn: number
  readonly laneId: number
  /** Set for a batch of jobs with a `keep` of their own: they are taken by this time first. */
  readonly until?: number | undefined
  readonly rest: Uint8Array | undefined
}

/** The limit for one slice's payloads: a slice of large ones is shorter than requested. */
const SLICE_BYTES = 64 * 2 ** 20
type Summary = [rows: number, bytes: number, withExtras: number]
type Old = [seq: number, bytes: number, extras: string | null]

/** Holds for a row of `job` that has a `keep` of its own. */
export const HAS_KEEP = `instr(policy, '"keep":') > 0`

/** Matches the policies with that `keep`. */
function keepPattern(keep: number): string {
  return `*"keep":${keep}[,}]*`
}

/** Returns the jobs of a range that still exist. Most ranges are whole and plain: then the numbers are enough. */
function prepareRange(db: Database): (range: Range, state: StateCode, at: number, until: number | undefined) => readonly Old[] {
  // `octet_length` is read from the row's header: the payload itself stays on disk.
  const bytes = ['data', 'checkpoint', 'output'].map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ')
  const still = 'FROM job WHERE seq BETWEEN ? AND ? AND +state = ? AND +finished_at = ?'
  const reads = (keeps: string) => ({
    summary: db.prepare(`SELECT count(*), coalesce(sum(${bytes}), 0), count(extras) ${still} AND ${keeps}`).raw(),
    rows: db.prepare(`SELECT seq, ${bytes}, extras ${still} AND ${keeps} ORDER BY seq`).raw(),
  })
  // A job may have finished twice within a millisecond, and have had another `keep` then.
  const ofQueue = reads(`(policy IS NULL OR NOT ${HAS_KEEP})`)
  const ofOwn = reads('policy GLOB ?')

  return ([first, last], state, at, until) => {
    const { summary, rows } = until === undefined ? ofQueue : ofOwn
    const values = [first, last, state, at, ...(until === undefined ? [] : [keepPattern(until - at)])]
    const [count, size, withExtras] = summary.get(...values) as Summary
    if (count < last - first + 1 || withExtras > 0 || size > SLICE_BYTES) return rows.all(...values) as Old[]
    return Array.from({ length: count }, (_, index): Old => [first + index, size / count, null])
  }
}

export function preparePrunable(db: Database): (kept: readonly KeptQuery[], limit: number) => Prunable[] {
  const batches = prepareBatches(db)
  const readRange = prepareRange(db)

  const readOne = (query: KeptQuery, limit: number): Prunable | undefined => {
    const { queueId, state, before, lastEvent = Number.MAX_SAFE_INTEGER, own = false } = query
    // Keyed by number: a job may have finished twice within a millisecond.
    const found = new Map<number, PrunableRow>()
    let token: PruneToken | undefined
    let room = SLICE_BYTES
    for (const [turn, laneId, at, packed, until] of batches(query)) {
      // A batch has the number of the event after its turn's last.
      if ((until ?? at) >= before || turn - 1 > lastEvent || found.size >= limit) break
      const seqs = seqsIn(unpackRanges(packed))
      let taken = 0
      // More in place of those that are skipped.
      for (let full = false; !full && taken < seqs.length && found.size < limit; ) {
        const wanted = seqs.slice(taken, taken + limit - found.size)
        taken += wanted.length
        for (const [seq, size, extras] of rangesOf(wanted).flatMap((range) => readRange(range, state, at, until))) {
          full = size > room && found.size > 0
          if (full) {
            taken = seqs.indexOf(seq)
            break
          }
          room -= size
          found.set(seq, { seq, laneId, state, extras: extrasFrom(extras) })
        }
      }
      token = { queueId, state, turn, laneId, until, rest: taken === seqs.length ? undefined : packRanges(rangesOf(seqs.slice(taken))) }
      if (token.rest !== undefined) break
    }
    return token === undefined ? undefined : { own, rows: [...found.values()], token }
  }

  return (kept, limit) => {
    const answers: Prunable[] = []
    let left = limit
    for (const query of kept) {
      if (left <= 0) break
      const found = readOne(query, Math.min(query.limit, left))
      if (found === undefined) continue
      answers.push(found)
      left -= found.rows.length
    }
    return answers
  }
}
