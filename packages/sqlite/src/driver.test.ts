// What the driver adds to better-sqlite3.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import BetterSqlite3 from 'better-sqlite3'
import { expect, test } from 'vitest'
import { type Database, driverFrom, openDatabase, type Statement } from './driver.ts'

const STATES = `CREATE TABLE job (seq INTEGER PRIMARY KEY, state INTEGER NOT NULL, data ANY) STRICT;
CREATE INDEX job_waiting ON job (state) WHERE state = 1;`

function plansOf(db: Pick<Database, 'exec'> & { prepare(sql: string): Pick<Statement, 'all'> }): unknown[] {
  db.exec(STATES)
  const plan = db.prepare('EXPLAIN QUERY PLAN SELECT seq FROM job WHERE state = ? LIMIT ?')
  return [1, 2].map((state) => plan.all(state, 10))
}

test('no plan depends on what is bound: a statement that does is compiled anew for each run', () => {
  // The index serves one value alone, which only a plan made for that value can know.
  const [one, other] = plansOf(new BetterSqlite3(':memory:'))
  expect(one).not.toEqual(other)
  const [first, second] = plansOf(openDatabase(':memory:'))
  expect(first).toEqual(second)
})

test('values of every kind are bound as they are', () => {
  const db = openDatabase(':memory:')
  db.exec(STATES)
  const values = [-1, 1.5, '-1', '?', null, new Uint8Array([1, 2])]
  const insert = db.prepare('INSERT INTO job (state, data) VALUES (?, ?), (?, ?)')
  for (const value of values) insert.run(1, value, 2, value)
  const kept = db.prepare('SELECT data FROM job WHERE state = ? ORDER BY seq LIMIT ?').pluck().all(2, 10)
  expect(kept).toEqual(values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value)))
  // Numbers are bound as real ones.
  const kinds = db.prepare('SELECT typeof(data) FROM job WHERE state = ?').pluck().all(1)
  expect(kinds).toEqual(['real', 'real', 'text', 'text', 'null', 'blob'])
})

test('a statement is compiled when it is first run, with its rows in the form that was asked for last', () => {
  const db = openDatabase(':memory:')
  const early = db.prepare('SELECT seq, data FROM job ORDER BY seq').pluck()
  expect(() => early.all()).toThrow('no such table: job')
  db.exec(STATES)
  db.prepare('INSERT INTO job (state, data) VALUES (?, ?)').run(1, 'a')
  expect(early.all()).toEqual([1])
  expect(early.raw().get()).toEqual([1, 'a'])
  expect([...early.raw().iterate()]).toEqual([[1, 'a']])
  expect(early.pluck().get()).toBe(1)
  expect(db.prepare('SELECT state FROM job').get()).toEqual({ state: 1 })
})

test.each([
  ['an ES module', pathToFileURL(join(tmpdir(), 'no-such-bundle/server.js')).href, join(tmpdir(), 'no-such-bundle/better-sqlite3')],
  ['CommonJS, which does not know where it is', undefined, 'better-sqlite3 beside the bundle'],
])('without the driver, a bundle in %s names the folder to copy, and where to', (_format, here, place) => {
  const copy = `copy the folder \`driver\` of @millrace/engine/bundle to ${place} after each build`
  expect(() => driverFrom(here)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_RUNTIME', message: expect.stringContaining(copy) }))
})
