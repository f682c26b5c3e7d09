/** One write transaction, and its outcome if it fails. */
import { StoreFailure } from '@millrace/core/kernel'
import type { Database } from './driver.ts'
import { failureAtCommit, failureBefore } from './failure.ts'

/** Returns a function that runs `work` between BEGIN IMMEDIATE and COMMIT. That function throws StoreFailure. */
export function prepareTransaction(db: Database): (work: () => void) => void {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')

  /** The first error counts: SQLite may have rolled back automatically, and a failing ROLLBACK says nothing new. */
  const undo = (failure: StoreFailure): StoreFailure => {
    try {
      if (db.inTransaction) rollback.run()
    } catch {
      // The check below notices this.
    }
    if (!db.inTransaction) return failure
    // Nothing was committed, but the connection is no longer usable.
    return new StoreFailure('commit', 'io', `${failure.message} (and the transaction could not be rolled back)`, { cause: failure.cause })
  }

  return (work) => {
    try {
      begin.run()
      work()
    } catch (error) {
      throw undo(failureBefore(error))
    }
    try {
      commit.run()
    } catch (error) {
      throw undo(failureAtCommit(error))
    }
  }
}
