/** What a file holds, seen by a connection of its own: as one digest, as jobs to be judged by the answers, and as an audit. */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type Database, openDatabase } from '../../../packages/sqlite/src/driver.ts'
import { auditDatabase } from '../../../packages/sqlite/src/testing/inspect.ts'
import type { Fate, Found } from './ledger.ts'
import { payload } from './payload.ts'

const FATES: readonly Fate[] = ['live', 'live', 'live', 'live', 'completed', 'failed', 'cancelled']

export function look(file: string): Database {
  return openDatabase(file, { readonly: true, fileMustExist: true })
}

/** The whole logical content but for the epoch, which every opening counts; undefined for a file that has no tables yet. */
export function digestOf(db: Database): string | undefined {
  if (db.prepare("SELECT count(*) FROM sqlite_schema WHERE name IN ('meta', 'finished')").pluck().get() !== 2) return undefined
  return hash('sha1', (db.prepare(digestQuery(db)).pluck().all() as (string | null)[]).join('\n'))
}

/** Of every page as a reader sees it: files of which this is the same hold the same, and are broken or whole alike. */
export function pagesOf(db: Database): string {
  const pages = db.serialize()
  const middle = pages.length >> 1
  return `${pages.length} ${crc32(pages.subarray(0, middle))} ${crc32(pages.subarray(middle))}`
}

/** By the schema: a new table or column is part of it by itself. */
const queries = new Map<number, string>()

function digestQuery(db: Database): string {
  const schema = db.pragma('schema_version', { simple: true }) as number
  const known = queries.get(schema)
  if (known !== undefined) return known
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name").pluck().all()
  const query = tables
    .map((table) => {
      const columns = db.prepare("SELECT name FROM pragma_table_info(?) WHERE name <> 'epoch'").pluck().all(table) as string[]
      return `SELECT '${table} ' || group_concat(${columns.map((column) => `quote("${column}")`).join(` || ',' || `)}, ';') FROM "${table}"`
    })
    .join(' UNION ALL ')
  queries.set(schema, query)
  return query
}

/** What `integrity_check` and `foreign_key_check` have to say; empty where nothing. */
export function brokenPages(db: Database): string[] {
  const integrity = db.prepare('PRAGMA integrity_check').pluck().all() as string[]
  const keys = db.pragma('foreign_key_check') as unknown[]
  return [...integrity.filter((line) => line !== 'ok'), ...keys.map((row) => JSON.stringify(row))]
}

/** Invariant 7 and more: counters are rows, finished jobs are in batches, running ones are found. */
export function auditOf(db: Database): readonly string[] {
  return auditDatabase(db).problems
}

type Row = [data: string | null, state: number, run: number, output: string | null]

export function jobsOf(db: Database): Found[] {
  const rows = db.prepare('SELECT data, state, run, output FROM job ORDER BY seq').raw().all() as Row[]
  return rows.map(([data, state, run, output]) => {
    const { marker, bytes } = JSON.parse(data ?? '{}') as { marker: number; bytes: number }
    return { marker, fate: FATES[state] as Fate, run, output, whole: data === payload(marker, bytes) }
  })
}
