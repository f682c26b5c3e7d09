/** The reads of both ends of a move: pages of rows, and the numbers beside the tables. */
import type { MovedKey, MovedRow, MovedTable, MoveEnd, PageBound } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { translate } from '../open/identify.ts'
import { physicalKey } from './tables.ts'

const NUMBERS = `SELECT node, created_at, paused, max(next_seq, coalesce((SELECT max(next_seq) FROM journal), 1)),
max(next_event, coalesce((SELECT max(first_event + count) FROM journal), 1)), max(next_session, coalesce((SELECT max(next_session) FROM journal), 1))
FROM meta`

/** @param release runs after the database is closed */
export function moveEnd(db: Database, release: () => void): MoveEnd {
  return {
    numbers: () => {
      const row = db.prepare(NUMBERS).raw().get() as [number, number, number, number, number, number, number]
      const [node, createdAt, paused, nextSeq, nextEvent, nextSession] = row
      return { node, createdAt, paused: paused === 1, nextSeq, nextEvent, nextSession }
    },
    page: (table, after, bound) => pageOf(db, table, after, bound),
    close: () => {
      db.close()
      release()
    },
  }
}

function pageOf(db: Database, table: MovedTable, after: MovedKey | undefined, bound: PageBound): MovedRow[] {
  const key = physicalKey(db, table.name)
  const names = key.map(({ name }) => name).join(', ')
  const columns = table.columns.map(({ name }) => name).join(', ')
  const behind = after === undefined ? '' : `WHERE (${names}) > (${key.map(() => '?').join(', ')})`
  const cell = (name: string) => after?.[table.key.indexOf(name)] as number
  const values = after === undefined ? [] : key.map(({ name, compute }) => compute?.(cell) ?? cell(name))
  const rows = db
    .prepare(`SELECT ${columns} FROM ${table.name} ${behind} ORDER BY ${names} LIMIT ?`)
    .raw()
    .iterate(...values, bound.rows) as IterableIterator<MovedRow>
  const page: MovedRow[] = []
  let bytes = 0
  for (const row of rows) {
    page.push(row)
    bytes += bytesOf(row)
    if (bytes >= bound.bytes) break
  }
  return page
}

function bytesOf(row: MovedRow): number {
  return row.reduce<number>((sum, value) => sum + (typeof value === 'string' || value instanceof Uint8Array ? value.length : 0), 0)
}

/** Translates SQLite's errors, such as that of a full disk, in every call of an end. */
export function translated<End extends MoveEnd>(end: End, file: string): End {
  return new Proxy(end, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: readonly unknown[]) => {
        try {
          return Reflect.apply(value, target, args)
        } catch (error) {
          throw translate(error, file)
        }
      }
    },
  })
}
