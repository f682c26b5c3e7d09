/** The reads of both ends of a move: pages of rows, and the numbers beside the tables. */
import type { MovedKey, MovedRow, MovedTable, MoveEnd } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { physicalKey } from './tables.ts'

const NUMBERS = `SELECT node, created_at, paused, said_from, max(next_seq, coalesce((SELECT max(next_seq) FROM journal), 1)),
max(next_event, coalesce((SELECT max(first_event + count) FROM journal), 1)), max(next_session, coalesce((SELECT max(next_session) FROM journal), 1))
FROM meta`

/** @param release runs after the database is closed */
export function moveEnd(db: Database, release: () => void): MoveEnd {
  return {
    numbers: () => {
      const row = db.prepare(NUMBERS).raw().get() as [number, number, number, number, number, number, number]
      const [node, createdAt, paused, saidFrom, nextSeq, nextEvent, nextSession] = row
      return { node, createdAt, paused: paused === 1, saidFrom, nextSeq, nextEvent, nextSession }
    },
    page: (table, after, limit) => pageOf(db, table, after, limit),
    close: () => {
      db.close()
      release()
    },
  }
}

function pageOf(db: Database, table: MovedTable, after: MovedKey | undefined, limit: number): MovedRow[] {
  const key = physicalKey(db, table.name)
  const names = key.map(({ name }) => name).join(', ')
  const columns = table.columns.map(({ name }) => name).join(', ')
  const behind = after === undefined ? '' : `WHERE (${names}) > (${key.map(() => '?').join(', ')})`
  const cell = (name: string) => after?.[table.key.indexOf(name)] as number
  const values = after === undefined ? [] : key.map(({ name, compute }) => compute?.(cell) ?? cell(name))
  return db
    .prepare(`SELECT ${columns} FROM ${table.name} ${behind} ORDER BY ${names} LIMIT ?`)
    .raw()
    .all(...values, limit) as MovedRow[]
}
