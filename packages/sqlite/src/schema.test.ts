// The file's CHECKs against the lifecycle of @millrace/core: what the code may do the file takes, what it may not the file refuses.
import { ACTIVE, isFinal, LIFECYCLE, STATES, type StateCode } from '@millrace/core'
import { expect, onTestFinished, test } from 'vitest'
import type { Database } from './driver.ts'
import { initial } from './migrations/001-initial.ts'
import { MIGRATIONS } from './migrations/list.ts'
import { connectWriter } from './open/connect.ts'
import { migrate } from './open/migrate.ts'
import { openCrowd } from './testing/crowd.ts'
import { rowsOf } from './testing/files.ts'

/** A database in memory that was made step by step. */
function migrated(): Database {
  const db = connectWriter(':memory:', { durability: 'normal', cacheKib: 1_024, platform: 'test' })
  onTestFinished(() => {
    db.close()
  })
  migrate(db, { file: ':memory:', now: 5, migrations: [...MIGRATIONS] })
  return db
}

const schemaOf = (db: Database) =>
  db.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY tbl_name, type = 'index', name").pluck().all() as string[]

test('newest.ts has the schema that all migrations lead to', async () => {
  const sql = schemaOf(migrated()).map((each) => `${each};\n`)
  const header = '/** The schema of this version: all migrations applied. Written by `vitest -u`, and held by schema.test.ts. */\n'
  await expect(`${header}export const NEWEST = \`${sql.join('\n')}\`\n`).toMatchFileSnapshot('migrations/newest.ts')
  expect(sql.join('')).not.toMatch(/[`\\]|[$][{]/)
})

test('a new file is what all migrations, one by one, make of an empty one', () => {
  const db = connectWriter(':memory:', { durability: 'normal', cacheKib: 1_024, platform: 'test' })
  migrate(db, { file: ':memory:', now: 5 })
  const stepwise = migrated()
  expect(schemaOf(db)).toEqual(schemaOf(stepwise))
  const tables = stepwise.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all() as string[]
  expect(tables).toContain('meta')
  for (const table of tables) expect([table, ...rowsOf(db, table)]).toEqual([table, ...rowsOf(stepwise, table)])
  for (const name of ['application_id', 'user_version', 'page_size', 'auto_vacuum', 'encoding'])
    expect([name, db.pragma(name)]).toEqual([name, stepwise.pragma(name)])
  db.close()
})

test('the schema names the states as the lifecycle does', () => {
  expect(initial.sql).toContain(STATES.map((state, code) => `${code} ${state}`).join(', '))
  const columns = openCrowd().db.prepare('SELECT name FROM pragma_table_info(?)').pluck().all('lane')
  expect(columns.slice(3, 10)).toEqual([...STATES])
})

test('every state that a transition leads to can be stored, and only with what belongs to it', () => {
  const { db } = openCrowd()
  const reachable = new Set<StateCode>(Object.values(LIFECYCLE).flatMap(({ to }): readonly StateCode[] => to))
  expect([...reachable].toSorted()).toEqual(STATES.map((_, code) => code))
  const store = (state: number, finishedAt: number | null, session: number | null) =>
    db
      .prepare('UPDATE job SET state = ?, finished_at = ?, session = ?, started_at = ?, run = 1 WHERE seq = 1')
      .run(state, finishedAt, session, session)
  for (const state of reachable) {
    expect(() => store(state, isFinal(state) ? 5 : null, 1)).not.toThrow()
    expect(() => store(state, isFinal(state) ? null : 5, 1)).toThrow('CHECK')
    if (state === ACTIVE) expect(() => store(state, null, null)).toThrow('CHECK')
  }
  expect(() => store(7, 5, 1)).toThrow('CHECK')
  expect(() => store(-1, null, 1)).toThrow('CHECK')
})

test('a value of the wrong kind is refused', () => {
  const { db } = openCrowd()
  expect(() => db.exec("UPDATE job SET run_at = 'soon' WHERE seq = 1")).toThrow('cannot store TEXT value')
  expect(() => db.exec('UPDATE job SET run_at = 1.5 WHERE seq = 1')).toThrow('cannot store REAL value')
  expect(() => db.exec('UPDATE job SET uncounted = 9 WHERE seq = 1')).toThrow('CHECK')
})

test('text stays text and bytes stay bytes', () => {
  const { store, turns } = openCrowd()
  const payloads = ['1', '1.0', 'null', '""', '"\\u0000\\ud800"', '"é😀"', new Uint8Array([0, 49, 255]), new Uint8Array(0), null]
  const jobs = payloads.map((data) => turns.insert({ data }))
  turns.commit()
  const found = store.jobs(jobs.map(({ seq }) => seq)).map(({ data }) => (data instanceof Uint8Array ? new Uint8Array(data) : data))
  expect(found).toEqual(payloads)
})
