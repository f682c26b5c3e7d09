import { cpSync, existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DEFAULT_POLICY } from '@millrace/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Database } from '../driver.ts'
import { MIGRATIONS, OLDEST_DOWN, SCHEMA_VERSION } from '../migrations/list.ts'
import type { Migration } from '../migrations/migration.ts'
import { openStore } from '../open-store.ts'
import { seqsIn, unpackRanges } from '../seqs.ts'
import { lookInto, openTestStore, rowsOf, storeOptions, temporaryFolder } from '../testing/files.ts'
import { Turns } from '../testing/jobs.ts'
import { connectWriter } from './connect.ts'
import { ledger, migrate, migrateDown } from './migrate.ts'

function connect(file: string): Database {
  const db = connectWriter(file, { durability: 'normal', cacheKib: 1_024, platform: 'linux' })
  onTestFinished(() => {
    db.close()
  })
  return db
}

const MIN_READER = Math.max(...MIGRATIONS.map(({ minReader }) => minReader))
const added: Migration = { id: SCHEMA_VERSION + 1, name: 'added', sql: 'CREATE TABLE added (a)', minReader: 1 }
const breaking: Migration = { id: SCHEMA_VERSION + 2, name: 'breaking', sql: 'DROP TABLE tag', minReader: SCHEMA_VERSION + 2 }
const failing: Migration = { id: SCHEMA_VERSION + 1, name: 'failing', sql: 'CREATE TABLE half (a); CREATE TABLE half (a)', minReader: 1 }

test('migrations are numbered from 1 without gaps, and say who may read', () => {
  expect(MIGRATIONS.map(({ id }) => id)).toEqual(MIGRATIONS.map((_, index) => index + 1))
  for (const { id, minReader } of MIGRATIONS) expect(minReader).toBeLessThanOrEqual(id)
})

test('each step since schema 15 can be undone', () => {
  expect(MIGRATIONS.filter(({ down }) => down === undefined).map(({ id }) => id)).toEqual(Array.from({ length: 15 }, (_, at) => at + 1))
  expect(OLDEST_DOWN).toBe(15)
})

test('a new file has every migration, with its line in the ledger', () => {
  const file = join(temporaryFolder(), 'jobs.db')
  openStore(storeOptions(file, { now: 5_000 })).close()
  const db = lookInto(file)
  expect(ledger(db)).toEqual(MIGRATIONS.map(({ id, name }) => ({ id, name, appliedAt: 5_000 })))
  expect(rowsOf(db, 'meta')).toMatchObject([{ schema_version: SCHEMA_VERSION, created_at: 5_000, epoch: 1 }])
  // There is nothing to copy.
  expect(readdirSync(dirname(file)).filter((name) => name.includes('before'))).toEqual([])
})

describe('an older file', () => {
  test('counts the jobs that wait for a retry', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    cpSync(new URL('../../fixtures/v17.db', import.meta.url), file)
    const db = connect(file)
    // One that has failed, one that was snoozed, and one that has failed and been tried again since.
    db.exec('UPDATE job SET run = 2, uncounted = 1 WHERE state = 0 AND lane = 1')
    db.exec('UPDATE job SET run = 2, uncounted = 2 WHERE state = 0 AND lane = 2')
    migrate(db, { file, now: 1 })
    expect(db.prepare('SELECT id, scheduled, retrying FROM lane ORDER BY id').raw().all()).toEqual([
      [1, 1, 1],
      [2, 1, 0],
    ])
  })

  test('gets what it lacks, once', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    const db = connect(file)
    migrate(db, { file, now: 1 })
    migrate(db, { file, now: 2, migrations: [...MIGRATIONS, added] })
    migrate(db, { file, now: 3, migrations: [...MIGRATIONS, added] })
    expect(ledger(db).at(-1)).toEqual({ id: SCHEMA_VERSION + 1, name: 'added', appliedAt: 2 })
    expect(rowsOf(db, 'meta')).toMatchObject([{ schema_version: SCHEMA_VERSION + 1, min_reader: MIN_READER }])
    expect(existsSync(`${file}.before-${String(SCHEMA_VERSION + 1).padStart(3, '0')}`)).toBe(false)
  })

  test('is copied beside itself before older versions are shut out', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    const copied = `${file}.before-${String(SCHEMA_VERSION + 2).padStart(3, '0')}`
    const db = connect(file)
    migrate(db, { file, now: 1 })
    migrate(db, { file, now: 2, migrations: [...MIGRATIONS, added, breaking] })
    expect(rowsOf(db, 'meta')).toMatchObject([{ schema_version: SCHEMA_VERSION + 2, min_reader: SCHEMA_VERSION + 2 }])
    const copy = lookInto(copied)
    expect(rowsOf(copy, 'meta')).toMatchObject([{ schema_version: SCHEMA_VERSION + 1, min_reader: MIN_READER }])
    expect(copy.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(() => rowsOf(copy, 'tag')).not.toThrow()
    expect(existsSync(`${copied}.partial`)).toBe(false)
  })

  test('stays as it was where a migration fails', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    const db = connect(file)
    migrate(db, { file, now: 1 })
    expect(() => migrate(db, { file, now: 2, migrations: [...MIGRATIONS, failing] })).toThrow('half')
    expect(ledger(db).map(({ id }) => id)).toEqual(MIGRATIONS.map(({ id }) => id))
    expect(() => rowsOf(db, 'half')).toThrow('no such table')
  })
})

const WITHOUT_KEEP = "replace(policy, ',\"keep\":3600000', '')"

describe('down', () => {
  const fixture = (version: number) => new URL(`../../fixtures/v${version}.db`, import.meta.url)
  const fileOf = (version: number): string => {
    const file = join(temporaryFolder(), 'jobs.db')
    cpSync(fixture(version), file)
    return file
  }
  const tables = (db: Database): readonly string[] =>
    db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name").pluck().all() as string[]
  const columns = (db: Database, table: string): readonly string[] =>
    db.prepare('SELECT name FROM pragma_table_info(?)').pluck().all(table) as string[]
  const indexes = (db: Database): readonly string[] =>
    db.prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name").pluck().all() as string[]
  const shape = (db: Database) => ({ indexes: indexes(db), columns: tables(db).map((table) => [table, ...columns(db, table)]) })
  const content = (db: Database, like: Database) =>
    tables(like).map((table) => {
      const names = columns(like, table)
      return [table, db.prepare(`SELECT ${names.join()} FROM ${table} ORDER BY ${names.join()}`).raw().all()]
    })

  test.for(MIGRATIONS.map(({ id }) => id).filter((id) => id >= OLDEST_DOWN && id < SCHEMA_VERSION))(
    'to schema %d, a file has its tables and every row of them, and the way up leads to where it was',
    (to) => {
      const file = fileOf(SCHEMA_VERSION)
      const db = connect(file)
      const before = connect(fileOf(SCHEMA_VERSION))
      const older = connect(fileOf(to))
      // These go back to the batches of their queue, without what older versions do not know.
      if (to < 22)
        before.exec(`INSERT INTO finished SELECT queue, state, turn, lane, at, seqs FROM kept; UPDATE job SET policy = ${WITHOUT_KEEP}`)
      migrateDown(db, to, { file })
      expect(shape(db)).toEqual(shape(older))
      expect(rowsOf(db, 'meta')).toMatchObject([
        { schema_version: to, min_reader: Math.max(...MIGRATIONS.slice(0, to).map(({ minReader }) => minReader)) },
      ])
      expect(ledger(db).map(({ id }) => id)).toEqual(MIGRATIONS.slice(0, to).map(({ id }) => id))
      const rows = (each: Database) => content(each, older).filter(([table]) => table !== 'meta' && table !== 'migration')
      expect(rows(db)).toEqual(rows(before))
      expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
      const copy = lookInto(`${file}.before-down-from-${String(SCHEMA_VERSION).padStart(3, '0')}`)
      expect(rowsOf(copy, 'meta')).toMatchObject([{ schema_version: SCHEMA_VERSION }])
      migrate(db, { file, now: 9 })
      expect(shape(db)).toEqual(shape(before))
      expect(ledger(db)).toHaveLength(SCHEMA_VERSION)
    },
  )

  test('a step that cannot be undone leaves the file at the step before, from which the same call goes on', () => {
    const file = fileOf(SCHEMA_VERSION)
    const db = connect(file)
    const down = MIGRATIONS.map((migration) => (migration.id === 17 ? { ...migration, down: 'DROP TABLE nowhere' } : migration))
    const jobs = db.prepare(`SELECT *, ${WITHOUT_KEEP} AS policy FROM job`).all()
    expect(() => migrateDown(db, 16, { file, migrations: down })).toThrow('nowhere')
    expect(ledger(db).at(-1)).toMatchObject({ id: 17 })
    migrateDown(db, 16, { file })
    expect(ledger(db).at(-1)).toMatchObject({ id: 16 })
    expect(rowsOf(db, 'job')).toEqual(jobs)
  })

  test('jobs with a time of their own go back to batches of which each has its place, and retention finds them all', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    const turns = new Turns(openTestStore({ file }))
    const policies = [undefined, ...[5, 7, 9].map((keep) => JSON.stringify({ ...DEFAULT_POLICY, text: undefined, keep }))]
    for (const wanted of [policies, policies.slice(1), policies.slice(2), policies]) {
      const jobs = wanted.map((policy) => turns.insert(policy === undefined ? {} : { policy }))
      turns.commit()
      for (const job of jobs) turns.start(job, turns.session())
      turns.commit()
      for (const job of jobs) turns.complete(job)
      turns.commit()
    }
    turns.store.close()
    const db = connect(file)
    migrateDown(db, 21, { file })
    const batches = db.prepare('SELECT turn, at, seqs FROM finished ORDER BY turn').raw().all() as [number, number, Uint8Array][]
    expect(batches.map(([, at]) => at)).toEqual(batches.map(([, at]) => at).toSorted((one, other) => one - other))
    const listed = batches.flatMap(([, at, seqs]) => seqsIn(unpackRanges(seqs)).map((seq) => [seq, at]))
    expect(listed.toSorted(([one], [other]) => (one as number) - (other as number))).toEqual(
      db.prepare('SELECT seq, finished_at FROM job WHERE state = 4 ORDER BY seq').raw().all(),
    )
    expect(listed).toHaveLength(4 + 3 + 2 + 4)
    expect(db.prepare('SELECT DISTINCT policy FROM job').pluck().all()).toEqual([
      null,
      JSON.stringify({ ...DEFAULT_POLICY, text: undefined }),
    ])
  })

  test('a file that is there already is neither changed nor copied', () => {
    const file = fileOf(16)
    migrateDown(connect(file), 16, { file })
    expect(readdirSync(dirname(file)).filter((name) => name.includes('before'))).toEqual([])
  })
})
