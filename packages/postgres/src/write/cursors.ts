/** Writes the positions of producers' journals, and of exports of finished jobs. */
import type { Effects } from '@millrace/core/kernel'
import type { Batch } from './batch.ts'

const SOURCE = `INSERT INTO source (uuid, mark, moved_at) VALUES ($1, $2, $3)
ON CONFLICT (uuid) DO UPDATE SET mark = greatest(source.mark, excluded.mark), moved_at = excluded.moved_at`
const EXPORT = `INSERT INTO export (name, cursor, moved_at) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor, moved_at = excluded.moved_at`

export function writeCursors(batch: Batch, { sourceOffsets, exports, exportsGone }: Effects, at: number): void {
  for (const { source, offset } of sourceOffsets) batch.add(SOURCE, source, offset, at)
  // Deletes first: an export may have been deleted and created again.
  for (const name of exportsGone) batch.add('DELETE FROM export WHERE name = $1', name)
  for (const { name, cursor } of exports) batch.add(EXPORT, name, cursor, at)
}
