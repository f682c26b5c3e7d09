/**
 * Takes finished jobs that have been kept long enough, from the batches in which they finished. A batch is a hint: a job in it that was
 * brought back or deleted since is skipped, and forgotten with the batch. No SQLite: every SQL store asks by it.
 */
import { LIMITS, type StateCode } from '@millrace/core'
import type { KeptQuery, Prunable, PrunableRow } from '@millrace/core/kernel'
import { packRanges, rangesOf, seqsIn, unpackRanges } from '../seqs.ts'
import { extrasFrom } from '../tables/job.ts'

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

/** Jobs that a turn has finished: in `until`, the time until which those with a `keep` of their own are kept. */
export type Batch = readonly [turn: number, laneId: number, at: number, seqs: Uint8Array, until?: number]
export type Old = readonly [seq: number, bytes: number, extras: string | null]

/** How a store is asked. */
export interface PrunableReads {
  /** The batches that a query is about, the first to go first. */
  batches(query: KeptQuery): Iterable<Batch>
  /** The jobs among `seqs` that still are as their batch says, by number. `keep`: undefined for those without one of their own. */
  jobs(seqs: readonly number[], state: StateCode, at: number, keep: number | undefined): Iterable<Old>
}

export function takePrunable(reads: PrunableReads, kept: readonly KeptQuery[], limit: number): Prunable[] {
  const answers: Prunable[] = []
  let left = limit
  for (const query of kept) {
    if (left <= 0) break
    const found = takeOne(reads, query, Math.min(query.limit, left))
    if (found === undefined) continue
    answers.push(found)
    left -= found.rows.length
  }
  return answers
}

function takeOne(reads: PrunableReads, query: KeptQuery, limit: number): Prunable | undefined {
  const { queueId, state, before, lastEvent = Number.MAX_SAFE_INTEGER, own = false } = query
  // Keyed by number: a job may have finished twice within a millisecond.
  const found = new Map<number, PrunableRow>()
  let token: PruneToken | undefined
  let room = LIMITS.sliceBytes
  for (const [turn, laneId, at, packed, until] of reads.batches(query)) {
    // A batch has the number of the event after its turn's last.
    if ((until ?? at) >= before || turn - 1 > lastEvent || found.size >= limit) break
    const seqs = seqsIn(unpackRanges(packed))
    let taken = 0
    // More in place of those that are skipped.
    for (let full = false; !full && taken < seqs.length && found.size < limit; ) {
      const wanted = seqs.slice(taken, taken + limit - found.size)
      taken += wanted.length
      for (const [seq, size, extras] of reads.jobs(wanted, state, at, until === undefined ? undefined : until - at)) {
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
