/**
 * Forgets idempotency keys that have expired and whose jobs have ended, kinds of failures not seen for long, old journal rows, sessions
 * that are gone and positions of producers that have not moved for long: a bounded slice per turn.
 */
import { LIMITS } from '@millrace/core'
import type { Effects } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { isKept } from '../read/keys.ts'

/**
 * Sessions that no other row needs. A session that is gone never comes back: its runs have ended, and if its process attaches again, the
 * session gets another number. Only completed jobs still name it, for the worker that they show. It has completed none after the turn in
 * which it went, and batches of finished jobs begin with the oldest. So its row may go once the first batch of completed jobs of every queue
 * is younger. The journal and `meta` note the next number of a session, so no number is given twice.
 */
const FORGET_SESSIONS = `DELETE FROM session WHERE id IN (SELECT id FROM session WHERE gone_in < coalesce((
  SELECT min(first) FROM (
    SELECT (SELECT min(turn) FROM finished WHERE finished.queue = queue.id AND state = 4) AS first FROM queue
    UNION ALL SELECT (SELECT min(turn) FROM kept WHERE kept.queue = queue.id AND state = 4) FROM queue
  )
), ${Number.MAX_SAFE_INTEGER}) ORDER BY gone_in LIMIT ?)`

/**
 * Positions of producers that have ended, as far as can be known. A position keeps an entry that is sent again from creating its jobs again. A
 * producer repeats what was not answered, and its journal or outbox outlives its connections, so no message says that it has ended: time
 * decides. A producer that comes back later and repeats an entry whose answer it never got creates those jobs twice. Entries that it sends
 * for the first time create their jobs once, with or without the row.
 */
const FORGET_SOURCES = 'DELETE FROM source WHERE uuid IN (SELECT uuid FROM source WHERE moved_at < ? ORDER BY moved_at LIMIT ?)'

export function preparePrune(db: Database): (effects: Effects) => void {
  const passed = `(SELECT name, key, seq, last FROM idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT ?) AS passed`
  const keys = db.prepare(`DELETE FROM idempotency WHERE (name, key) IN (SELECT name, key FROM ${passed} WHERE NOT ${isKept('passed')})`)
  // Moves them out of the way of the next slices: each would look at all of them, however many there are.
  const kept = db.prepare(
    `UPDATE idempotency SET lapsed = 1, expires_at = ? WHERE (name, key) IN (SELECT name, key FROM ${passed} WHERE ${isKept('passed')})`,
  )
  const events = db.prepare(
    `DELETE FROM journal WHERE first_event IN (
  SELECT first_event FROM journal WHERE first_event <= ? AND first_event + count - 1 <= ? ORDER BY first_event LIMIT ?
)`,
  )

  const failures = db.prepare('DELETE FROM failure WHERE last_at < ?')
  const sessions = db.prepare(FORGET_SESSIONS)
  const sources = db.prepare(FORGET_SOURCES)

  return ({ forgetKeysBefore, forgetKeysLimit, forgetEventsBefore, forgetFailuresBefore, forgetSessions, forgetSourcesBefore }) => {
    if (forgetKeysBefore > 0) {
      const { changes } = keys.run(forgetKeysBefore, forgetKeysLimit)
      // The rest of the slice is the first that is left.
      if (changes < forgetKeysLimit) kept.run(forgetKeysBefore + LIMITS.keysKeptMs, forgetKeysBefore, forgetKeysLimit - changes)
    }
    if (forgetFailuresBefore > 0) failures.run(forgetFailuresBefore)
    if (forgetSessions) sessions.run(LIMITS.sliceRows)
    if (forgetSourcesBefore > 0) sources.run(forgetSourcesBefore, LIMITS.sliceRows)
    if (forgetEventsBefore > 0) events.run(forgetEventsBefore, forgetEventsBefore, LIMITS.sliceRows)
  }
}
