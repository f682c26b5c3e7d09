/**
 * Refuses a file that was deleted or moved while nobody wrote it. A new file in its place would be another queue, and
 * hide the loss of all its jobs.
 */
import { existsSync } from 'node:fs'
import type { Refusal } from '@millrace/core'

export const GONE: Refusal = {
  code: 'OWNER_LOST',
  message: 'the file was deleted or moved while its writer was away: nothing is put in its place',
}

export function isGone(file: string): boolean {
  return file !== ':memory:' && !existsSync(file)
}
