/** Returns what an error of the driver says, as plain data. */
import pg from 'pg'
import type { LineError } from './message.ts'

export function errorOf(error: unknown): LineError {
  if (error instanceof pg.DatabaseError) return { message: error.message, code: error.code, constraint: error.constraint }
  return { message: error instanceof Error ? error.message : String(error), code: undefined, constraint: undefined }
}
