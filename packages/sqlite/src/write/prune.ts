/** Forgets idempotency keys that have run out, kinds of failures not seen for long, and old journal rows, a bounded slice per turn. */
import { type Effects, LIMITS } from '@millrace/core'
import type { Database } from '../driver.ts'

export function preparePrune(db: Database): (effects: Effects) => void {
  const keys = db.prepare(
    'DELETE FROM idempotency WHERE (name, key) IN (SELECT name, key FROM idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)',
  )
  const events = db.prepare(
    `DELETE FROM journal WHERE first_event IN (
  SELECT first_event FROM journal WHERE first_event <= ? AND first_event + count - 1 <= ? ORDER BY first_event LIMIT ?
)`,
  )

  const failures = db.prepare('DELETE FROM failure WHERE last_at < ?')

  return ({ forgetKeysBefore, forgetKeysLimit, forgetEventsBefore, forgetFailuresBefore }) => {
    if (forgetKeysBefore > 0) keys.run(forgetKeysBefore, forgetKeysLimit)
    if (forgetFailuresBefore > 0) failures.run(forgetFailuresBefore)
    if (forgetEventsBefore > 0) events.run(forgetEventsBefore, forgetEventsBefore, LIMITS.sliceRows)
  }
}
