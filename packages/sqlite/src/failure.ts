/** Classifies SQLite's errors by their effect on the turn that met them. */
import { isError } from '@millrace/core'
import { StoreFailure } from '@millrace/core/kernel'
import { sqliteCode } from './driver.ts'

/** Returns the failure for an error before COMMIT: after the rollback, nothing of the turn has happened. */
export function failureBefore(error: unknown): StoreFailure {
  if (error instanceof StoreFailure) return error
  const reason = reasonOf(error)
  return new StoreFailure(reason === 'statement' || reason === 'large' ? 'broken' : 'before', reason, messageOf(error), { cause: error })
}

/**
 * Returns the failure for an error of COMMIT itself. BUSY leaves the transaction open, so it is rolled back and nothing happened.
 * FULL comes from a write to the log that found no room: the frame that would have made the commit is incomplete, and SQLite has
 * rolled back. After any other error the outcome is unknown: a failed sync can turn out to be a commit when the log is read again
 * after a crash.
 */
export function failureAtCommit(error: unknown): StoreFailure {
  const reason = reasonOf(error)
  return new StoreFailure(
    reason === 'busy' || reason === 'full' ? 'before' : 'commit',
    reason === 'statement' || reason === 'large' ? 'io' : reason,
    messageOf(error),
    {
      cause: error,
    },
  )
}

function reasonOf(error: unknown): StoreFailure['reason'] {
  const code = sqliteCode(error)
  if (code === undefined) return 'statement'
  if (code === 'SQLITE_FULL') return 'full'
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'busy'
  if (code === 'SQLITE_TOOBIG') return 'large'
  return STATEMENT_CODE.test(code) ? 'statement' : 'io'
}

/** Matches errors that the statement or its values caused. All others (IOERR, CORRUPT, READONLY, CANTOPEN, NOMEM) come from the storage. */
const STATEMENT_CODE = /^SQLITE_(ERROR|CONSTRAINT|MISMATCH|MISUSE|RANGE)(_|$)/

function messageOf(error: unknown): string {
  const code = sqliteCode(error)
  const message = isError(error) ? error.message : String(error)
  return code === undefined ? message : `${code}: ${message}`
}
