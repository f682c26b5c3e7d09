/** Finds out who owns a file, without opening the file. */
import { statSync } from 'node:fs'
import { ownerFile } from '../companionFiles.ts'
import { openDatabase, sqliteCode } from '../driver.ts'
import { realFile } from '../open/place.ts'
import { type OwnerNote, readOwnerNote } from './note.ts'

/**
 * Returns the owner of a file: its note, `'unknown'` if it has not written one, undefined if nobody owns the file. The answer is
 * true for an instant only: opening the store decides.
 */
export function probeOwner(file: string): OwnerNote | 'unknown' | undefined {
  const real = realFile(file)
  const path = ownerFile(real)
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined
  const db = openDatabase(path, { readonly: true, fileMustExist: true, timeout: 0 })
  try {
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    return undefined
  } catch (error) {
    if (sqliteCode(error)?.startsWith('SQLITE_BUSY')) return readOwnerNote(real) ?? 'unknown'
    throw error
  } finally {
    db.close()
  }
}
