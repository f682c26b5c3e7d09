/** Opens a connection with its settings, and verifies that they hold. */
import { fingerprintOf, UnsupportedRuntimeError } from '@millrace/core'
import { type Database, openDatabase } from '../driver.ts'
import { MEMORY_FILE } from '../options.ts'
import {
  CREATION_SETTINGS,
  checkPragmas,
  memorySettings,
  readerSettings,
  type Setting,
  setPragmas,
  WRITER_BUSY_MS,
  type WriterTuning,
  writerSettings,
} from './pragmas.ts'

/** The oldest version allowed: older ones can corrupt a WAL database when a checkpoint meets a commit. */
const OLDEST_SQLITE = [3, 51, 3] as const

export function connectWriter(file: string, tuning: WriterTuning): Database {
  const settings = file === MEMORY_FILE ? memorySettings(tuning.cacheKib) : writerSettings(tuning)
  const db = openDatabase(file, { timeout: WRITER_BUSY_MS })
  return prove(db, settings, () => setPragmas(db, [...CREATION_SETTINGS, ...settings]))
}

/** Opens a read-only connection. It changes nothing, not even when it closes. */
export function connectReader(file: string, cacheKib: number): Database {
  const settings = readerSettings(cacheKib)
  const db = openDatabase(file, { readonly: true, fileMustExist: true })
  return prove(db, settings, () => setPragmas(db, settings))
}

interface Named {
  readonly name: string
  readonly message: string
}

function prove(db: Database, settings: readonly Setting[], set: () => void): Database {
  try {
    checkVersion(String(db.prepare('SELECT sqlite_version()').pluck().get()))
    set()
    // For a filter, which judges errors where they are.
    db.function('fingerprint', { deterministic: true }, (name, message) => (name === '' ? null : fingerprintOf({ name, message } as Named)))
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    checkPragmas(db, settings)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

export function checkVersion(version: string): void {
  const parts = version.split('.').map(Number)
  for (const [index, least] of OLDEST_SQLITE.entries()) {
    const part = parts[index] ?? 0
    if (part > least) return
    if (part < least) {
      throw new UnsupportedRuntimeError(
        `SQLite ${version} can corrupt a WAL database; ${OLDEST_SQLITE.join('.')} or newer is needed. Update Millrace, which brings its SQLite`,
      )
    }
  }
}
