/** Reads finished jobs that have been kept long enough. */
import type { KeptQuery, Prunable } from '@millrace/core/kernel'
import { type Batch, type Old, type PrunableReads, takePrunable } from '@millrace/sql'
import type { Connection } from '../connection.ts'
import type { LowWaterMarks } from '../lowWaterMarks.ts'
import { PAYLOAD_BYTES } from '../tables/job.ts'

/** The number of batches that one slice reads at most. */
const BATCHES_MAX = 256

const BATCHES = `SELECT turn, lane, at, seqs FROM finished WHERE queue = $1 AND state = $2 AND (turn, lane) >= ($4, $5)
ORDER BY turn, lane LIMIT $3`
const KEPT = `SELECT turn, lane, at, seqs, until FROM kept WHERE queue = $1 AND state = $2 AND until < $4
ORDER BY until, turn, lane LIMIT $3`
/** A job may have finished twice within a millisecond, and have had another \`keep\` then: $4 is that of the batch, null for none. */
const STILL = `SELECT seq, ${PAYLOAD_BYTES}, extras FROM job WHERE seq = ANY ($1::bigint[]) AND state = $2 AND finished_at = $3
AND substring(policy FROM '"keep":(\\d+)')::bigint IS NOT DISTINCT FROM $4::bigint ORDER BY seq`

export function preparePrunable(connection: Connection, marks: LowWaterMarks): (kept: readonly KeptQuery[], limit: number) => Prunable[] {
  const reads: PrunableReads = {
    batches: ({ queueId, state, before, own = false }) => {
      // No low-water mark: a later job may be kept for a shorter time.
      if (own) return connection.all<Batch>(KEPT, queueId, state, BATCHES_MAX, before)
      const batches = connection.all<Batch>(BATCHES, queueId, state, BATCHES_MAX, ...marks.finished(queueId, state))
      if (batches[0] !== undefined) marks.foundFinished(queueId, state, [batches[0][0], batches[0][1]])
      return batches
    },
    jobs: (seqs, state, at, keep) => connection.all<Old>(STILL, seqs, state, at, keep ?? null),
  }
  return (kept, limit) => takePrunable(reads, kept, limit)
}
