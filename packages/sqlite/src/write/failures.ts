/** Writes failures by their kind: counted, with the last job of each. The kinds not seen for longest make room for new ones. */
import { LIMITS } from '@millrace/core'
import type { FailureNote } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'

interface Counted {
  readonly last: FailureNote
  readonly count: number
}

export function prepareFailures(db: Database): (failures: readonly FailureNote[], at: number) => void {
  const count = db.prepare('UPDATE failure SET count = count + ?, last_at = ?, seq = ?, run = ? WHERE lane = ? AND fingerprint = ?')
  const add = db.prepare(
    'INSERT INTO failure (count, last_at, seq, run, lane, fingerprint, error, first_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
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
      if (count.run(...values).changes > 0) continue
      add.run(...values, error, at)
      added = true
    }
    if (added) forgetOldest.run(LIMITS.failureGroups)
  }
}

function byKind(failures: readonly FailureNote[]): Iterable<Counted> {
  const kinds = new Map<string, Counted>()
  for (const last of failures) {
    const key = `${last.job.lane.id}:${last.fingerprint}`
    kinds.set(key, { last, count: (kinds.get(key)?.count ?? 0) + 1 })
  }
  return kinds.values()
}
