/** Returns what an error of the driver says, as plain data. */
import { isError } from '@millrace/core'
import type { DatabaseError } from 'pg'
import { PooledError } from './direct.ts'
import type { BridgeError } from './message.ts'

export function errorOf(error: unknown): BridgeError {
  if (isOfServer(error)) return { message: error.message, code: error.code, constraint: error.constraint }
  if (error instanceof PooledError) return { message: error.message, code: error.code, constraint: undefined }
  return { message: isError(error) ? error.message : String(error), code: undefined, constraint: undefined }
}

/** The driver's class would have to be loaded. Errors of the system have codes, too, but no severity. */
function isOfServer(error: unknown): error is DatabaseError {
  return isError(error) && 'severity' in error
}
