/**
 * Returns free pages to the file system, a slice at a time. Every file has `auto_vacuum = incremental` from its creation
 * (`CREATION_SETTINGS`), and a copy has it from its original, so no file must be rewritten for it.
 */
import type { FileCare } from '@millrace/core/kernel'
import type { Database } from './driver.ts'
import type { Claim } from './open/claim.ts'
import { prepareTransaction } from './transaction.ts'
import { prepareOwned } from './write/header.ts'

export type Shrink = Pick<FileCare, 'freePages' | 'shrink'>

export function prepareShrink(db: Database, claim: Claim): Shrink {
  const transaction = prepareTransaction(db)
  const assertOwned = prepareOwned(db, claim)
  const free = db.prepare('PRAGMA freelist_count').pluck()
  const all = db.prepare('PRAGMA page_count').pluck()

  return {
    freePages: () => ({ free: free.get() as number, all: all.get() as number }),
    shrink: (pages) =>
      transaction(() => {
        assertOwned()
        // `exec` takes a step per page: a prepared statement's `run` would take only the first.
        db.exec(`PRAGMA incremental_vacuum(${pages})`)
      }),
  }
}
