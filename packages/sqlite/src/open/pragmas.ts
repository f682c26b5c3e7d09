/**
 * Sets every setting of a connection and reads it back. SQLite ignores settings that it does not know, and better-sqlite3 opens
 * WAL files at synchronous=NORMAL by default, so only a setting that is read back is certain.
 */
import { InternalError } from '@millrace/core'
import type { Database } from '../driver.ts'

export interface Setting {
  readonly name: string
  readonly value: number | string
}

/** SQLite's numbers for `PRAGMA synchronous`. */
const SYNCHRONOUS = { normal: 1, full: 2 } as const
const TEMP_STORE_MEMORY = 2

export const PAGE_BYTES = 4096
/** The number of pages in the WAL at which a commit copies them back: 16 MiB, so that a hot page is copied once for many commits. */
const CHECKPOINT_PAGES = 4000
/** The size in bytes to which a WAL that has grown behind a slow reader is cut back. */
const WAL_BYTES_KEPT = 64 * 2 ** 20
/** The writer's busy timeout. It never sleeps long on its thread: the engine tries again between turns. */
export const WRITER_BUSY_MS = 25
/** The readers' busy timeout: they have a thread of their own. */
const READER_BUSY_MS = 1_000

export interface WriterTuning {
  readonly durability: 'full' | 'normal'
  readonly cacheKib: number
  /** If true, deleted content is overwritten with zeros. */
  readonly secureDelete?: boolean | undefined
  readonly platform: string
}

/** Settings that take effect only in a file without tables. */
export const CREATION_SETTINGS: readonly Setting[] = [
  { name: 'page_size', value: PAGE_BYTES },
  { name: 'auto_vacuum', value: 2 },
]

export function writerSettings({ durability, cacheKib, secureDelete = false, platform }: WriterTuning): readonly Setting[] {
  const settings: Setting[] = [
    { name: 'journal_mode', value: 'wal' },
    { name: 'synchronous', value: SYNCHRONOUS[durability] },
    { name: 'journal_size_limit', value: WAL_BYTES_KEPT },
    { name: 'wal_autocheckpoint', value: CHECKPOINT_PAGES },
    ...sharedSettings(cacheKib, WRITER_BUSY_MS),
  ]
  if (secureDelete) settings.push({ name: 'secure_delete', value: 1 })
  // A plain fsync on macOS leaves the data in the drive's cache.
  if (platform === 'darwin' && durability === 'full')
    settings.push({ name: 'fullfsync', value: 1 }, { name: 'checkpoint_fullfsync', value: 1 })
  return settings
}

/** Returns the settings of the one connection to a database in memory: it has no WAL, and nothing to sync. */
export function memorySettings(cacheKib: number): readonly Setting[] {
  return sharedSettings(cacheKib, WRITER_BUSY_MS)
}

/** Returns the settings of a reader. It changes nothing and copies nothing back: SQLite's WAL-reset bug needed two checkpointers. */
export function readerSettings(cacheKib: number): readonly Setting[] {
  return [{ name: 'query_only', value: 1 }, { name: 'wal_autocheckpoint', value: 0 }, ...sharedSettings(cacheKib, READER_BUSY_MS)]
}

function sharedSettings(cacheKib: number, busyMs: number): readonly Setting[] {
  return [
    { name: 'busy_timeout', value: busyMs },
    { name: 'temp_store', value: TEMP_STORE_MEMORY },
    { name: 'cache_size', value: -cacheKib },
    { name: 'foreign_keys', value: 1 },
    { name: 'mmap_size', value: 0 },
  ]
}

export function setPragmas(db: Database, settings: readonly Setting[]): void {
  for (const { name, value } of settings) db.pragma(`${name} = ${value}`)
}

/** Verifies the settings. Call it after the connection's first read: some settings take effect, or are undone, only with that read. */
export function checkPragmas(db: Database, settings: readonly Setting[]): void {
  for (const { name, value } of settings) {
    const found = db.pragma(name, { simple: true })
    // A pragma without a value of its own (mmap_size in memory) returns nothing.
    if (found === undefined && value === 0) continue
    if (found !== value) throw new InternalError(`SQLite did not take PRAGMA ${name} = ${value}: it reads back ${String(found)}`)
  }
}
