/** Writes the positions of producers' journals. */
import type { Effects } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'

export function prepareSources(db: Database): (effects: Effects, at: number) => void {
  const move = db.prepare(
    `INSERT INTO source (uuid, mark, moved_at) VALUES (?, ?, ?)
ON CONFLICT (uuid) DO UPDATE SET mark = max(mark, excluded.mark), moved_at = excluded.moved_at`,
  )
  return ({ marks }, at) => {
    for (const { source, mark } of marks) move.run(source, mark, at)
  }
}
