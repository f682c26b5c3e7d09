/** The tables that a move copies, read from the schema of this version, so that no list has to follow it. */
import type { MovedTable, MovedType } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { connectWriter } from '../open/connect.ts'
import { migrate } from '../open/migrate.ts'
import { MEMORY_FILE } from '../options.ts'
import { blockOf } from '../tags.ts'

/** Every store has its own. */
const NOT_MOVED: ReadonlySet<string> = new Set(['meta', 'migration'])

/** Columns of keys that are computed from others of the row: only SQLite has them. */
const COMPUTED: Readonly<Record<string, Readonly<Record<string, (cell: (name: string) => number) => number>>>> = {
  tag: { block: (cell) => blockOf(cell('seq')) },
}

const TYPES: Readonly<Record<string, MovedType>> = { INTEGER: 'integer', REAL: 'real', TEXT: 'text', BLOB: 'bytes', ANY: 'payload' }

const CACHE_KIB = 1_024

interface RawColumn {
  readonly name: string
  readonly type: string
  /** The place in the primary key, from 1 on; 0 outside of it. */
  readonly pk: number
}

/** Returns the tables, those that others refer to before these. */
export function movedTables(): readonly MovedTable[] {
  const db = connectWriter(MEMORY_FILE, { durability: 'normal', cacheKib: CACHE_KIB, platform: process.platform })
  try {
    migrate(db, { file: MEMORY_FILE, now: 0 })
    return inOrder(db).map((name) => tableOf(db, name))
  } finally {
    db.close()
  }
}

/** Returns the key of a table in SQLite, each column with the function that computes it from the moved key, if it is not part of that. */
export function physicalKey(db: Database, table: string) {
  return columnsOf(db, table)
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map(({ name }) => ({ name, compute: COMPUTED[table]?.[name] }))
}

/** Returns the columns that are computed when a row is written. */
export function computedOf(table: string) {
  return Object.entries(COMPUTED[table] ?? {}).map(([name, compute]) => ({ name, compute }))
}

function tableOf(db: Database, name: string): MovedTable {
  const computed = COMPUTED[name] ?? {}
  return {
    name,
    columns: columnsOf(db, name)
      .filter((column) => !(column.name in computed))
      .map((column) => ({ name: column.name, type: TYPES[column.type] as MovedType })),
    key: physicalKey(db, name)
      .filter(({ compute }) => compute === undefined)
      .map((column) => column.name),
  }
}

function columnsOf(db: Database, table: string): RawColumn[] {
  return db.pragma(`table_info(${table})`) as RawColumn[]
}

function inOrder(db: Database): readonly string[] {
  const names = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
    .pluck()
    .all() as string[]
  const ordered = new Set<string>()
  const add = (name: string): void => {
    for (const { table } of db.pragma(`foreign_key_list(${name})`) as { table: string }[]) add(table)
    ordered.add(name)
  }
  for (const name of names) if (!NOT_MOVED.has(name)) add(name)
  return [...ordered]
}
