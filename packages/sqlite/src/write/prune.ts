/** Forgets idempotency keys that have run out and old journal rows, a bounded slice per turn. */
import { type Effects, LIMITS } from '@millrace/core'
import type { Database } from '../driver.ts'

/** What a journal row takes beside its packed events, roughly. */
export const JOURNAL_ROW_BYTES = 24

export function preparePrune(db: Database): (effects: Effects) => void {
  const keys = db.prepare(
    'DELETE FROM idempotency WHERE (name, key) IN (SELECT name, key FROM idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)',
  )
  const oldest = db.prepare(
    'SELECT first_event, length(packed) FROM journal WHERE first_event <= ? AND first_event + count - 1 <= ? ORDER BY first_event LIMIT ?',
  )
  oldest.raw()
  const rows = db.prepare('DELETE FROM journal WHERE first_event <= ?')
  const bytes = db.prepare('UPDATE meta SET journal_bytes = journal_bytes - ?')

  return ({ forgetKeysBefore, forgetEventsBefore }) => {
    if (forgetKeysBefore > 0) keys.run(forgetKeysBefore, LIMITS.sliceRows)
    if (forgetEventsBefore === 0) return
    const slice = oldest.all(forgetEventsBefore, forgetEventsBefore, LIMITS.sliceRows) as [number, number][]
    const last = slice.at(-1)
    if (last === undefined) return
    rows.run(last[0])
    bytes.run(slice.reduce((sum, [, length]) => sum + length + JOURNAL_ROW_BYTES, 0))
  }
}
