/** Writes the positions of exports of finished jobs. */
import type { Effects } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'

export function prepareExports(db: Database): (effects: Effects, at: number) => void {
  const forget = db.prepare('DELETE FROM export WHERE name = ?')
  const move = db.prepare(
    `INSERT INTO export (name, cursor, moved_at) VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor, moved_at = excluded.moved_at`,
  )
  return ({ exports, exportsGone }, at) => {
    // Deletes first: an export may have been deleted and created again.
    for (const name of exportsGone) forget.run(name)
    for (const { name, cursor } of exports) move.run(name, cursor, at)
  }
}
