/**
 * Forgets idempotency keys that have expired and whose jobs have ended, kinds of failures not seen for long, and old journal
 * rows: a bounded slice per turn.
 */
import { LIMITS } from '@millrace/core'
import type { Effects } from '@millrace/core/kernel'
import { isKept } from '@millrace/sql'
import type { Database } from '../driver.ts'

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

  return ({ forgetKeysBefore, forgetKeysLimit, forgetEventsBefore, forgetFailuresBefore }) => {
    if (forgetKeysBefore > 0) {
      const { changes } = keys.run(forgetKeysBefore, forgetKeysLimit)
      // The rest of the slice is the first that is left.
      if (changes < forgetKeysLimit) kept.run(forgetKeysBefore + LIMITS.keysKeptMs, forgetKeysBefore, forgetKeysLimit - changes)
    }
    if (forgetFailuresBefore > 0) failures.run(forgetFailuresBefore)
    if (forgetEventsBefore > 0) events.run(forgetEventsBefore, forgetEventsBefore, LIMITS.sliceRows)
  }
}
