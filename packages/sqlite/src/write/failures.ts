/**
 * Writes failures by their kind: counted, with the last job of each, and the count before each hour. The kinds not seen for longest make
 * room for new ones.
 */
import { LIMITS } from '@millrace/core'
import { type FailureNote, hourOf, withFailureHour } from '@millrace/core/kernel'
import { byKind, hoursFrom, hoursText } from '@millrace/sql'
import type { Database } from '../driver.ts'

export function prepareFailures(db: Database): (failures: readonly FailureNote[], at: number) => void {
  const count = db.prepare(
    'UPDATE failure SET count = count + ?, last_at = ?, seq = ?, run = ? WHERE lane = ? AND fingerprint = ? AND last_at >= ?',
  )
  const before = db.prepare('SELECT count, hours FROM failure WHERE lane = ? AND fingerprint = ?').raw()
  const note = db.prepare('UPDATE failure SET hours = ? WHERE lane = ? AND fingerprint = ?')
  const add = db.prepare(
    'INSERT INTO failure (count, last_at, seq, run, lane, fingerprint, error, first_at, hours) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const forgetOldest = db.prepare(
    `DELETE FROM failure WHERE (lane, fingerprint) IN (
  SELECT lane, fingerprint FROM failure ORDER BY last_at DESC LIMIT -1 OFFSET ?
)`,
  )

  return (failures, at) => {
    if (failures.length === 0) return
    let added = false
    for (const { last, count: times } of byKind(failures)) {
      const { job, run, error, fingerprint } = last
      const values = [times, at, job.seq, run, job.lane.id, fingerprint]
      // Its hour is noted, unless this is the first failure of the hour.
      if (count.run(...values, hourOf(at)).changes > 0) continue
      const known = before.get(job.lane.id, fingerprint) as [count: number, hours: string] | undefined
      if (known === undefined) {
        add.run(...values, error, at, hoursText(withFailureHour([], at, 0)))
        added = true
      } else {
        note.run(hoursText(withFailureHour(hoursFrom(known[1]), at, known[0])), job.lane.id, fingerprint)
        count.run(...values, 0)
      }
    }
    if (added) forgetOldest.run(LIMITS.failureGroups)
  }
}
