/** Migrates a file that nobody has open down to an older schema, for an engine that knows no newer one. */
import { existsSync } from 'node:fs'
import { NotADatabaseError } from '@millrace/core'
import { assertPlain, makingOf } from './access.ts'
import { connectWriter } from './open/connect.ts'
import { identify, translate } from './open/identify.ts'
import { assertOwnLog } from './open/log.ts'
import { migrateDown } from './open/migrate.ts'
import { checkPlace, realFile } from './open/place.ts'
import { lockOwner, type OwnerOptions } from './owner/lock.ts'

/** The file, the time, and the name of this process for whoever finds the file locked. */
export type MigrateDownOptions = Omit<OwnerOptions, 'waitMs' | 'making'>

const CACHE_KIB = 16 * 1024

/**
 * Undoes the migrations after schema `to`, each in a transaction of its own. A copy of the file is made first. If it is interrupted, the
 * same call goes on from there.
 *
 * @param to `OLDEST_DOWN` to `SCHEMA_VERSION`
 * @throws AlreadyOpenError, NotADatabaseError, SchemaTooNewError, StorageError, NotWritableError, UnsafeFilesystemError
 */
export function migrateFileDown(given: MigrateDownOptions, to: number): void {
  if (!existsSync(given.file)) throw new NotADatabaseError(`there is no file ${given.file}`, { path: given.file })
  // As at every opening: a file with several names, or where locks can be lost, may have another owner.
  checkPlace(given.file, process.platform, 'refuse')
  const options = { ...given, file: realFile(given.file) }
  assertPlain(options.file)
  const making = () => makingOf(options.file, undefined)
  const owner = lockOwner({ ...options, waitMs: 0, making })
  try {
    owned(options.file, to)
  } catch (error) {
    throw translate(error, options.file)
  } finally {
    owner.release()
  }
}

/** Runs while nobody else can open the file. */
function owned(file: string, to: number): void {
  assertOwnLog(file)
  if (!identify(file)) throw new NotADatabaseError(`${file} is empty: there is nothing to migrate`, { path: file })
  const db = connectWriter(file, { durability: 'full', cacheKib: CACHE_KIB, platform: process.platform })
  try {
    migrateDown(db, to, { file })
  } finally {
    db.close()
  }
}
