/**
 * Reads finished jobs that have been kept long enough, from the batches in which they finished. A batch is a hint: a job in it that was
 * brought back or deleted since is skipped, and forgotten with the batch.
 */
import type { StateCode } from '@millrace/core'
import type { KeptQuery, Prunable, PrunableRow } from '@millrace/core/kernel'
import { extrasFrom, packRanges, rangesOf, seqsIn, unpackRanges } from '@millrace/sqlite/rows'
import type { Connection } from '../connection.ts'
import { PAYLOAD_BYTES } from '../tables/job.ts'

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
/** The number of batches that one slice reads at most. */
const BATCHES_MAX = 256

type Batch = [turn: number, lane: number, at: number, seqs: Uint8Array, until?: number]
type Old = [seq: number, bytes: number, extras: string | null]

const BATCHES = 'SELECT turn, lane, at, seqs FROM finished WHERE queue = $1 AND state = $2 ORDER BY turn, lane LIMIT $3'
const KEPT = `SELECT turn, lane, at, seqs, until FROM kept WHERE queue = $1 AND state = $2 AND until < $4
ORDER BY until, turn, lane LIMIT $3`
/** A job may have finished twice within a millisecond, and have had another \`keep\` then: $4 is that of the batch, null for none. */
const STILL = `SELECT seq, ${PAYLOAD_BYTES}, extras FROM job WHERE seq = ANY ($1::bigint[]) AND state = $2 AND finished_at = $3
AND substring(policy FROM '"keep":(\\d+)')::bigint IS NOT DISTINCT FROM $4::bigint ORDER BY seq`

export function preparePrunable(connection: Connection): (kept: readonly KeptQuery[], limit: number) => Prunable[] {
  const readOne = (query: KeptQuery, limit: number): Prunable | undefined => {
    const { queueId, state, before, lastEvent = Number.MAX_SAFE_INTEGER, own = false } = query
    // Keyed by number: a job may have finished twice within a millisecond.
    const found = new Map<number, PrunableRow>()
    let token: PruneToken | undefined
    let room = SLICE_BYTES
    const batches = own
      ? connection.all<Batch>(KEPT, queueId, state, BATCHES_MAX, before)
      : connection.all<Batch>(BATCHES, queueId, state, BATCHES_MAX)
    for (const [turn, laneId, at, packed, until] of batches) {
      // A batch has the number of the event after its turn's last.
      if ((until ?? at) >= before || turn - 1 > lastEvent || found.size >= limit) break
      const seqs = seqsIn(unpackRanges(packed))
      let taken = 0
      // More in place of those that are skipped.
      for (let full = false; !full && taken < seqs.length && found.size < limit; ) {
        const wanted = seqs.slice(taken, taken + limit - found.size)
        taken += wanted.length
        for (const [seq, size, extras] of connection.all<Old>(STILL, wanted, state, at, until === undefined ? null : until - at)) {
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
