/** Files for tests: a temporary folder, a store in it, and a second connection to look at what is really in the file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Database, openDatabase } from '../driver.ts'
import { openStore } from '../open-store.ts'
import type { StoreOptions } from '../options.ts'
import type { SqliteStore } from '../store.ts'

/** Creates a folder that is removed when the test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-sqlite-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function storeOptions(file: string, changes: Partial<StoreOptions> = {}): StoreOptions {
  return { file, durability: 'normal', random: () => 0.5, now: 1_700_000_000_000, host: 'test-host', pid: process.pid, ...changes }
}

/** Opens a store that is closed when the test is over. */
export function openTestStore(changes: Partial<StoreOptions> = {}): SqliteStore {
  const store = openStore(storeOptions(changes.file ?? join(temporaryFolder(), 'jobs.db'), changes))
  onTestFinished(() => store.close())
  return store
}

/** Opens a second connection of the same SQLite library, which is safe. It is closed when the test is over. */
export function lookInto(file: string): Database {
  const db = openDatabase(file)
  onTestFinished(() => {
    db.close()
  })
  return db
}

/** Returns everything in a table, as objects. */
export function rowsOf(db: Database, table: string, order = '1'): Record<string, unknown>[] {
  return db.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).all() as Record<string, unknown>[]
}

const TABLES = [
  'meta',
  'queue',
  'lane',
  'job',
  'idempotency',
  'unique_key',
  'tag',
  'session',
  'attempt',
  'log',
  'step',
  'definition',
  'source',
  'export',
  'schedule',
  'history',
  'failure',
  'flow_gate',
  'flow_edge',
  'flow_due',
  'flow_end',
  'flow_gone',
  'key_bucket',
  'pause_end',
  'kept',
  'kept_count',
  'key_turn',
] as const

/** Returns every row of every table but the journal, as a string. */
export function snapshot(db: Database): ReadonlySet<string> {
  const rows = TABLES.flatMap((table) => rowsOf(db, table).map((row) => `${table} ${JSON.stringify(row)}`))
  return new Set(rows)
}

/**
 * Returns the rows that differ, on either side, in all tables but `meta`. A test names them all, and so proves that the
 * bystanders stay.
 */
export function changedRows(before: ReadonlySet<string>, after: ReadonlySet<string>): { gone: string[]; come: string[] } {
  const only = (rows: ReadonlySet<string>, others: ReadonlySet<string>) =>
    [...rows].filter((row) => !others.has(row) && !row.startsWith('meta '))
  return { gone: only(before, after), come: only(after, before) }
}
