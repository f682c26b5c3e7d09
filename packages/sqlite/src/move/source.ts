/** A file whose content is moved to another store. */
import type { MoveSource } from '@millrace/core/kernel'
import { MOVED_ID, movedTo } from '../open/identify.ts'
import { ownFile } from '../open-store.ts'
import type { StoreOptions } from '../options.ts'
import { moveEnd, translated } from './end.ts'

/**
 * Opens a file that nobody has open.
 *
 * @throws AlreadyOpenError, and the errors of `openStore`
 */
export function openMoveSource(options: StoreOptions): MoveSource {
  const { db, release } = ownFile(options, 'source')
  const source: MoveSource = {
    ...moveEnd(db, release),
    get movedTo() {
      return movedTo(db)
    },
    unfinished: () => ({ active: db.prepare('SELECT coalesce(sum(active), 0) FROM lane').pluck().get() as number, entries: 0 }),
    leave: (to) => {
      db.transaction(() => {
        db.exec('CREATE TABLE IF NOT EXISTS moved (one INTEGER PRIMARY KEY CHECK (one = 1), address TEXT NOT NULL) STRICT')
        db.prepare('INSERT OR REPLACE INTO moved VALUES (1, ?)').run(to)
        db.pragma(`application_id = ${MOVED_ID}`)
      }).immediate()
    },
  }
  return translated(source, options.file)
}
