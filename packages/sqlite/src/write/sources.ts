/** Writes the positions of producers' journals. */
import type { Effects } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'

export function prepareSources(db: Database): (effects: Effects, at: number) => void {
  const move = db.prepare(
    `INSERT INTO source (uuid, mark, moved_at) VALUES (?, ?, ?)
ON CONFLICT (uuid) DO UPDATE SET mark = max(mark, excluded.mark), moved_at = excluded.moved_at`,
  )
  return ({ sourceOffsets }, at) => {
    for (const { source, offset } of sourceOffsets) move.run(source, offset, at)
  }
}
