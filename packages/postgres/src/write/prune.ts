/**
 * Forgets idempotency keys that have expired and whose jobs have ended, kinds of failures not seen for long, old rows of the journal,
 * sessions that are gone and positions of producers that have not moved for long: a bounded slice per turn.
 */
import { LIMITS } from '@millrace/core'
import type { Effects } from '@millrace/core/kernel'
import type { Floors } from '../floors.ts'
import { isKept } from '../read/keys.ts'
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

// When these may go is argued beside the statements of SQLite.
const SESSIONS = `DELETE FROM session WHERE id IN (SELECT id FROM session WHERE gone_in < coalesce((
  SELECT min(first) FROM queue CROSS JOIN LATERAL (
    SELECT min(turn) FROM finished WHERE finished.queue = queue.id AND state = 4
    UNION ALL SELECT min(turn) FROM kept WHERE kept.queue = queue.id AND state = 4
  ) AS each (first)
), ${Number.MAX_SAFE_INTEGER}) ORDER BY gone_in LIMIT $1)`
const SOURCES = 'DELETE FROM source WHERE uuid IN (SELECT uuid FROM source WHERE moved_at < $1 ORDER BY moved_at LIMIT $2)'

export function writePrune(batch: Batch, effects: Effects, { journal }: Floors): void {
  const { forgetKeysBefore, forgetKeysLimit, forgetEventsBefore, forgetFailuresBefore, forgetSessions, forgetSourcesBefore } = effects
  if (forgetKeysBefore > 0) batch.add(KEYS, forgetKeysBefore, forgetKeysLimit, forgetKeysBefore + LIMITS.keysKeptMs)
  if (forgetFailuresBefore > 0) batch.add('DELETE FROM failure WHERE last_at < $1', forgetFailuresBefore)
  if (forgetSessions) batch.add(SESSIONS, LIMITS.sliceRows)
  if (forgetSourcesBefore > 0) batch.add(SOURCES, forgetSourcesBefore, LIMITS.sliceRows)
  if (forgetEventsBefore > 0) batch.add(EVENTS, forgetEventsBefore, LIMITS.sliceRows, journal.turn, journal.event)
}
