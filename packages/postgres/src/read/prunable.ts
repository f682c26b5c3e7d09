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
  readonly rest: Uint8Array | undefined
}

/** The limit for one slice's payloads: a slice of large ones is shorter than requested. */
const SLICE_BYTES = 64 * 2 ** 20
/** The number of batches that one slice reads at most. */
const BATCHES_MAX = 256

type Batch = [turn: number, lane: number, at: number, seqs: Uint8Array]
type Old = [seq: number, bytes: number, extras: string | null]

const BATCHES = 'SELECT turn, lane, at, seqs FROM finished WHERE queue = $1 AND state = $2 ORDER BY turn, lane LIMIT $3'
const STILL = `SELECT seq, ${PAYLOAD_BYTES}, extras FROM job WHERE seq = ANY ($1::bigint[]) AND state = $2 AND finished_at = $3 ORDER BY seq`

export function preparePrunable(connection: Connection): (kept: readonly KeptQuery[], limit: number) => Prunable[] {
  const readOne = ({ queueId, state, before, lastEvent = Number.MAX_SAFE_INTEGER }: KeptQuery, limit: number): Prunable | undefined => {
    // Keyed by number: a job may have finished twice within a millisecond.
    const found = new Map<number, PrunableRow>()
    let token: PruneToken | undefined
    let room = SLICE_BYTES
    for (const [turn, laneId, at, packed] of connection.all<Batch>(BATCHES, queueId, state, BATCHES_MAX)) {
      // A batch has the number of the event after its turn's last.
      if (at >= before || turn - 1 > lastEvent || found.size >= limit) break
      const seqs = seqsIn(unpackRanges(packed))
      const wanted = seqs.slice(0, limit - found.size)
      let taken = wanted.length
      for (const [seq, size, extras] of connection.all<Old>(STILL, wanted, state, at)) {
        if (size > room && found.size > 0) {
          taken = wanted.indexOf(seq)
          break
        }
        room -= size
        found.set(seq, { seq, laneId, state, extras: extrasFrom(extras) })
      }
      token = { queueId, state, turn, laneId, rest: taken === seqs.length ? undefined : packRanges(rangesOf(seqs.slice(taken))) }
      if (token.rest !== undefined) break
    }
    return token === undefined ? undefined : { rows: [...found.values()], token }
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
