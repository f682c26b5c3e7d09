/**
 * Forgets idempotency keys that have expired and whose jobs have ended, kinds of failures not seen for long, and old rows of the journal:
 * a bounded slice per turn.
 */
import { LIMITS } from '@millrace/core'
import type { Effects } from '@millrace/core/kernel'
import { isKept } from '@millrace/sql'
import type { LowWaterMarks } from '../lowWaterMarks.ts'
import type { Batch } from './batch.ts'

// Keys of live jobs are moved out of the way of the next slices: each would look at all of them, however many there are.
const KEYS = `WITH passed AS (SELECT name, key, seq, last FROM idempotency WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2),
kept AS (
  UPDATE idempotency AS held SET lapsed = 1, expires_at = $3 FROM passed
  WHERE held.name = passed.name AND held.key = passed.key AND ${isKept('passed')}
)
DELETE FROM idempotency AS held USING passed WHERE held.name = passed.name AND held.key = passed.key AND NOT ${isKept('passed')}`
// The last turn stays: the next one follows it.
const EVENTS = `DELETE FROM journal WHERE turn >= $3 AND turn < (SELECT max(turn) FROM journal) AND turn <= (
  SELECT max(turn) FROM (
    SELECT turn FROM journal WHERE count > 0 AND first_event BETWEEN $4 AND $1 AND first_event + count - 1 <= $1 ORDER BY first_event LIMIT $2
  ) AS whole
)`

export function writePrune(batch: Batch, effects: Effects, { journal }: LowWaterMarks): void {
  const { forgetKeysBefore, forgetKeysLimit, forgetEventsBefore, forgetFailuresBefore } = effects
  if (forgetKeysBefore > 0) batch.add(KEYS, forgetKeysBefore, forgetKeysLimit, forgetKeysBefore + LIMITS.keysKeptMs)
  if (forgetFailuresBefore > 0) batch.add('DELETE FROM failure WHERE last_at < $1', forgetFailuresBefore)
  if (forgetEventsBefore > 0) batch.add(EVENTS, forgetEventsBefore, LIMITS.sliceRows, journal.turn, journal.event)
}
