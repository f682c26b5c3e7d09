/** A file that was deleted or moved while nobody wrote it. */
import { existsSync } from 'node:fs'
import type { Refusal } from '@millrace/core'
import { MEMORY } from './options.ts'

const GONE: Refusal = {
  code: 'OWNER_LOST',
  message: 'the file was deleted or moved while its writer was away: nothing is put in its place',
}

export function gone(file: string): Refusal | undefined {
  return file === MEMORY || existsSync(file) ? undefined : GONE
}
