/**
 * Migrates a file up to this version's schema, or down to that of an older one. Each step runs in a transaction of its own, with its line in
 * the ledger: if the process dies between two, the next one goes on from there. A step after which older versions can no longer open the file
 * makes a copy beside it first, and so does a migration down, which loses what only newer versions store.
 */
import { InternalError } from '@millrace/core'
import { packRanges } from '@millrace/sql'
import { type Making, makingOf } from '../access.ts'
import { copyWhole } from '../backup.ts'
import { copyDownFile, copyFile } from '../companionFiles.ts'
import type { Database } from '../driver.ts'
import { MIGRATIONS } from '../migrations/list.ts'
import type { Migration } from '../migrations/migration.ts'
import { MEMORY_FILE } from '../options.ts'
import { APPLICATION_ID } from './identify.ts'
import { CREATION_SETTINGS, checkPragmas } from './pragmas.ts'

export interface SchemaChangeOptions {
  readonly file: string
  /** The migrations that there are: a test's own, or this version's. */
  readonly migrations?: readonly Migration[]
  /** The mode of a copy. Default: that of a new file. */
  readonly making?: Making
}

export interface MigrateOptions extends SchemaChangeOptions {
  readonly now: number
}

export function migrate(db: Database, { file, now, migrations = MIGRATIONS, making = makingOf(file, undefined) }: MigrateOptions): void {
  const fresh = db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'migration'").pluck().get() === 0
  if (fresh) create(db, now, migrations[0] as Migration)
  const applied = new Set(db.prepare('SELECT id FROM migration').pluck().all() as number[])
  for (const migration of migrations) {
    if (applied.has(migration.id)) continue
    if (!fresh && file !== MEMORY_FILE && migration.minReader > minReader(db)) copyWhole(db, copyFile(file, migration.id), making)
    apply(db, now, migration)
  }
}

/** Undoes the migrations after a schema, the newest first. The file has a schema that this version knows, and can go back to that one. */
export function migrateDown(
  db: Database,
  to: number,
  { file, migrations = MIGRATIONS, making = makingOf(file, undefined) }: SchemaChangeOptions,
): void {
  const due = ledger(db).filter(({ id }) => id > to)
  if (due.length === 0) return
  copyWhole(db, copyDownFile(file, (due.at(-1) as { id: number }).id), making)
  for (const { id } of due.toReversed()) undo(db, migrations, id)
}

function undo(db: Database, migrations: readonly Migration[], id: number): void {
  const down = migrations.find((migration) => migration.id === id)?.down
  if (down === undefined) throw new InternalError(`migration ${id} cannot be undone`)
  const kept = migrations.filter((migration) => migration.id < id)
  inTransaction(db, () => {
    db.exec(down)
    db.prepare('DELETE FROM migration WHERE id = ?').run(id)
    db.prepare('UPDATE meta SET schema_version = ?, min_reader = ?').run(id - 1, Math.max(...kept.map(({ minReader: oldest }) => oldest)))
  })
}

/** Creates the tables, the ledger and the mark in one transaction: an interrupted creation leaves an empty file. */
function create(db: Database, now: number, first: Migration): void {
  checkPragmas(db, CREATION_SETTINGS)
  inTransaction(db, () => {
    db.pragma(`application_id = ${APPLICATION_ID}`)
    db.exec(first.sql)
    db.prepare(
      'INSERT INTO meta (one, epoch, next_seq, next_event, next_session, schema_version, min_reader, created_at) VALUES (1, 0, 1, 1, 1, ?, ?, ?)',
    ).run(first.id, first.minReader, now)
    db.prepare('INSERT INTO running VALUES (1, 0, ?)').run(packRanges([]))
    note(db, now, first)
  })
}

function apply(db: Database, now: number, migration: Migration): void {
  inTransaction(db, () => {
    db.exec(migration.sql)
    migration.fill?.(db)
    db.prepare('UPDATE meta SET schema_version = ?, min_reader = max(min_reader, ?)').run(migration.id, migration.minReader)
    note(db, now, migration)
  })
}

function note(db: Database, now: number, { id, name }: Migration): void {
  db.prepare('INSERT INTO migration VALUES (?, ?, ?)').run(id, name, now)
}

function inTransaction(db: Database, work: () => void): void {
  db.transaction(work).immediate()
}

function minReader(db: Database): number {
  return db.prepare('SELECT min_reader FROM meta').pluck().get() as number
}

/** Returns the migrations applied to a file, oldest first. */
export function ledger(db: Database): readonly { readonly id: number; readonly name: string; readonly appliedAt: number }[] {
  const rows = db.prepare('SELECT id, name, applied_at FROM migration ORDER BY id').raw().all() as [number, string, number][]
  if (rows.length === 0) throw new InternalError('the ledger of migrations is empty')
  return rows.map(([id, name, appliedAt]) => ({ id, name, appliedAt }))
}
