import Database from 'better-sqlite3'
import { beforeEach, expect, test } from 'vitest'
import { OutboxTable, outboxSchema } from './table.ts'

const AT = Date.UTC(2030, 0, 1)
const [A, B] = [
  { uuid: 'a', number: 10 },
  { uuid: 'b', number: 11 },
] as const
const refusal = { code: 'UNIQUE_CONFLICT', message: 'taken' } as const

let connection: Database.Database
let table: OutboxTable
let sql: string[]
beforeEach(() => {
  connection = new Database(':memory:')
  connection.exec(outboxSchema())
  sql = []
  const prepare = connection.prepare.bind(connection)
  connection.prepare = ((text: string) => {
    sql.push(text)
    return prepare(text)
  }) as typeof prepare
  table = new OutboxTable(connection, 'millrace_outbox')
  for (const place of [1, 2, 3, 5]) table.insert(A, place, { name: 'a', data: String(place), timeout: Number.POSITIVE_INFINITY }, AT)
  for (const place of [1, 2]) table.insert(B, place, { name: 'b', data: null }, AT)
})

const rows = () =>
  (connection.prepare('SELECT * FROM millrace_outbox ORDER BY seq').all() as Record<string, unknown>[]).map(
    ({ source, place, code }) => `${source}${place}${code ? '!' : ''}`,
  )

test('a read ends where a place is missing, where another source begins, and where it is large enough', () => {
  const places = (found: readonly { place: number }[]) => found.map(({ place }) => place)
  expect(places(table.left(100, 10))).toEqual([1, 2, 3])
  expect(places(table.left(100, 2))).toEqual([1, 2])
  expect(places(table.own(B, 0, 10))).toEqual([1, 2])
  expect(places(table.own(A, 3, 10))).toEqual([5])
  expect(table.left(1, 10)[0]).toEqual({
    seq: 1,
    source: A,
    place: 1,
    entry: { at: AT, jobs: [{ name: 'a', data: '1', timeout: Number.POSITIVE_INFINITY }] },
  })
  // From the first place that is there, whatever row it has.
  table.forget(A, 1, 3)
  expect(places(table.left(100, 10))).toEqual([5])
  table.forget(A, 5, 5)
  expect(places(table.left(100, 10))).toEqual([1, 2])
  expect(table.left(4, 10)).toEqual([])
  for (const place of [3, 4, 5]) table.insert(B, place, { name: 'b', data: 'x'.repeat(600_000) }, AT)
  expect(places(table.own(B, 0, 10))).toEqual([1, 2, 3])
  expect(places(table.own(B, 3, 10))).toEqual([4])
})

test('each write touches its own rows alone', () => {
  table.refuse(A, 2, refusal)
  expect(rows()).toEqual(['a1', 'a2!', 'a3', 'a5', 'b1', 'b2'])
  table.forget(A, 1, 3)
  expect(rows()).toEqual(['a2!', 'a5', 'b1', 'b2'])
  table.refuse(B, 2, refusal)
  expect(table.refused(10).map(({ place, code, message }) => [place, code, message])).toEqual([
    [2, 'UNIQUE_CONFLICT', 'taken'],
    [2, 'UNIQUE_CONFLICT', 'taken'],
  ])
  expect(table.refused(1).map(({ source }) => source)).toEqual([A])
  expect(table.dismiss(10, 5, AT)).toBe(false)
  expect(table.dismiss(11, 2, AT + 1)).toBe(false)
  expect(table.dismiss(11, 2, AT)).toBe(true)
  expect(rows()).toEqual(['a2!', 'a5', 'b1'])
  // Nothing that was refused is read again.
  expect(table.left(100, 10).map(({ place }) => place)).toEqual([5])
})

test('no statement walks the table, nor sorts', () => {
  for (const text of [...sql]) {
    const plan = (
      connection.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...Array.from(text.matchAll(/\?/g), () => 1)) as { detail: string }[]
    )
      .map(({ detail }) => detail)
      .join('; ')
    expect(plan, text).not.toMatch(/TEMP B-TREE/)
    if (!text.startsWith('INSERT'))
      expect(plan, text).toMatch(/^SEARCH |^SCAN millrace_outbox USING (?:COVERING )?INDEX millrace_outbox_refused/)
  }
})
