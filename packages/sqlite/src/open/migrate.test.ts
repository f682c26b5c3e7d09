// Steps of the schema, up and down, on a file as users open it: this version with two steps of a test behind its own.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SchemaTooNewError, SchemaTooOldError } from '@millrace/core'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { inspectFile } from '../audit.ts'
import { migrationCopies } from '../companionFiles.ts'
import type { Database } from '../driver.ts'
import { openDatabase } from '../driver.ts'
import { migrateFileDown } from '../migrateFileDown.ts'
import { MIGRATIONS, OLDEST_DOWN, OLDEST_SCHEMA, SCHEMA_VERSION } from '../migrations/list.ts'
import type { Migration } from '../migrations/migration.ts'
import { openStore } from '../open-store.ts'
import { addBystanders } from '../testing/bystanders.ts'
import { lookInto, rowsOf, storeOptions, temporaryFolder } from '../testing/files.ts'
import { Turns } from '../testing/jobs.ts'
import { ledger, migrate } from './migrate.ts'

vi.mock('../migrations/list.ts', async (original) => {
  const list = await original<typeof import('../migrations/list.ts')>()
  const [first] = list.MIGRATIONS as readonly [Migration]
  const words: Migration = {
    id: first.id + 1,
    name: 'words',
    sql: "CREATE TABLE word (text TEXT PRIMARY KEY) STRICT; INSERT INTO word VALUES ('one')",
    down: 'DROP TABLE word',
    minReader: first.id,
  }
  const lengths: Migration = {
    id: first.id + 2,
    name: 'lengths',
    sql: 'ALTER TABLE word ADD COLUMN size INTEGER',
    fill: (db) => db.exec('UPDATE word SET size = length(text)'),
    down: 'ALTER TABLE word DROP COLUMN size',
    minReader: first.id + 2,
  }
  return { ...list, MIGRATIONS: [first, words, lengths], SCHEMA_VERSION: lengths.id }
})

const FIRST = OLDEST_SCHEMA
const options = (file: string) => ({ file, now: 9, host: 'test', pid: 1 })
const copyOf = (file: string, part: string | number) => `${file}.before-${part}`

let file: string

beforeEach(() => {
  file = join(temporaryFolder(), 'jobs.db')
})

/** A closed file of the first schema with something in every table. */
function firstFile(): void {
  const store = openStore(storeOptions(file))
  addBystanders(new Turns(store))
  store.close()
  migrateFileDown(options(file), FIRST)
}

function write(sql: string): void {
  const db = openDatabase(file, { fileMustExist: true, timeout: 5_000 })
  db.exec(sql)
  db.close()
}

const meta = (name = file) => rowsOf(lookInto(name), 'meta')[0]
const ids = () => ledger(lookInto(file)).map(({ id }) => id)
/** Every row of the tables of the first schema, but for the numbers of the schema itself and of the owners. */
const content = () => {
  const db = lookInto(file)
  const tables = db.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('meta', 'migration', 'word') ORDER BY name",
  )
  return (tables.pluck().all() as string[]).map((table) => [table, ...rowsOf(db, table)])
}

test('steps are numbered without gaps, say who may read, and can be undone but for the first', async () => {
  const { MIGRATIONS: own } = await vi.importActual<typeof import('../migrations/list.ts')>('../migrations/list.ts')
  expect(own.map(({ id }) => id)).toEqual(own.map((_, index) => FIRST + index))
  for (const { id, minReader } of own) expect(minReader).toBeLessThanOrEqual(id)
  expect(own.filter(({ down }) => down === undefined)).toHaveLength(1)
  expect(OLDEST_DOWN).toBe(FIRST)
})

test('a new file has every step, with its line in the ledger, and nothing to copy', () => {
  openStore(storeOptions(file, { now: 5_000, autoMigrate: false })).close()
  expect(ledger(lookInto(file))).toEqual(MIGRATIONS.map(({ id, name }) => ({ id, name, appliedAt: 5_000 })))
  expect(meta()).toMatchObject({ schema_version: SCHEMA_VERSION, min_reader: SCHEMA_VERSION, created_at: 5_000, epoch: 1 })
  expect(readdirSync(dirname(file)).filter((name) => name.includes('before'))).toEqual([])
})

describe('an older file', () => {
  test('T7: gets what it lacks, once, keeps every row, and is copied before older versions are shut out', () => {
    firstFile()
    const before = content()
    openStore(storeOptions(file, { now: 7 })).close()
    expect(ledger(lookInto(file)).slice(1)).toEqual([
      { id: FIRST + 1, name: 'words', appliedAt: 7 },
      { id: FIRST + 2, name: 'lengths', appliedAt: 7 },
    ])
    expect(rowsOf(lookInto(file), 'word')).toEqual([{ text: 'one', size: 3 }])
    expect(content().filter(([table]) => table !== 'session')).toEqual(before.filter(([table]) => table !== 'session'))
    expect(existsSync(copyOf(file, `0${FIRST + 1}`))).toBe(false)
    const copy = copyOf(file, `0${FIRST + 2}`)
    expect(meta(copy)).toMatchObject({ schema_version: FIRST + 1, min_reader: FIRST })
    expect(lookInto(copy).pragma('integrity_check', { simple: true })).toBe('ok')
    expect(existsSync(`${copy}.partial`)).toBe(false)
    expect(migrationCopies(file)).toContain(copy)
    openStore(storeOptions(file, { now: 8 })).close()
    expect(ids()).toEqual(MIGRATIONS.map(({ id }) => id))
  })

  test('is refused without autoMigrate, and left as it is', () => {
    firstFile()
    const before = readFileSync(file)
    expect(() => openStore(storeOptions(file, { autoMigrate: false }))).toThrow(SchemaTooOldError)
    expect(() => openStore(storeOptions(file, { autoMigrate: false }))).toThrow(
      `has schema ${FIRST}, and this version needs ${SCHEMA_VERSION}: close it in all processes and run millrace migrate`,
    )
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(inspectFile(file)).toMatchObject({ schemaVersion: FIRST, knownVersion: SCHEMA_VERSION })
  })

  test('stays at the step before one that fails', () => {
    firstFile()
    write('CREATE VIEW word AS SELECT 1')
    expect(() => openStore(storeOptions(file))).toThrow('word')
    expect(ids()).toEqual([FIRST])
    write('DROP VIEW word')
    openStore(storeOptions(file)).close()
    expect(ids()).toEqual(MIGRATIONS.map(({ id }) => id))
  })

  test('a copy that fails leaves nothing behind', () => {
    firstFile()
    const db = openDatabase(file)
    onTestFinished(() => {
      db.close()
    })
    const prepare = (sql: string) => {
      const statement = db.prepare(sql)
      if (!sql.startsWith('VACUUM')) return statement
      const run = (target: string) => {
        statement.run(target)
        throw new Error('full')
      }
      return { run }
    }
    const failing = new Proxy(db, {
      get: (target, name) => {
        const value = Reflect.get(target, name)
        if (name === 'prepare') return prepare
        return typeof value === 'function' ? value.bind(target) : value
      },
    }) as Database
    const copies = () => readdirSync(dirname(file)).filter((name) => name.includes('before'))
    const before = copies()
    expect(() => migrate(failing, { file, now: 1 })).toThrow('full')
    expect(copies()).toEqual(before)
  })
})

describe('down', () => {
  test('T7: every row of the older tables is there, older versions may read again, and the way up leads to where it was', () => {
    const store = openStore(storeOptions(file))
    addBystanders(new Turns(store))
    store.close()
    const before = content()
    migrateFileDown(options(file), FIRST + 1)
    expect(rowsOf(lookInto(file), 'word')).toEqual([{ text: 'one' }])
    expect(meta()).toMatchObject({ schema_version: FIRST + 1, min_reader: FIRST })
    migrateFileDown(options(file), FIRST)
    expect(ids()).toEqual([FIRST])
    expect(content()).toEqual(before)
    expect(meta(copyOf(file, `down-from-0${FIRST + 2}`))).toMatchObject({ schema_version: FIRST + 2 })
    expect(meta(copyOf(file, `down-from-0${FIRST + 1}`))).toMatchObject({ schema_version: FIRST + 1 })
    openStore(storeOptions(file)).close()
    expect(rowsOf(lookInto(file), 'word')).toEqual([{ text: 'one', size: 3 }])
  })

  test('a step that cannot be undone leaves the file at the step before, from which the same call goes on', () => {
    openStore(storeOptions(file)).close()
    write('ALTER TABLE word RENAME TO words; CREATE VIEW word AS SELECT text, size FROM words')
    expect(() => migrateFileDown(options(file), FIRST)).toThrow('word')
    expect(ids().at(-1)).toBe(FIRST + 2)
    write('DROP VIEW word; ALTER TABLE words RENAME TO word')
    migrateFileDown(options(file), FIRST)
    expect(ids()).toEqual([FIRST])
  })

  test('a file that is there already is neither changed nor copied', () => {
    firstFile()
    const before = readdirSync(dirname(file))
    migrateFileDown(options(file), FIRST)
    expect(readdirSync(dirname(file))).toEqual(before)
  })
})

test('a file of a newer version is refused, and so is one from before 0.1.0: neither is changed', () => {
  openStore(storeOptions(file)).close()
  write(`UPDATE meta SET schema_version = ${SCHEMA_VERSION + 1}, min_reader = ${SCHEMA_VERSION + 1}`)
  expect(() => openStore(storeOptions(file))).toThrow(SchemaTooNewError)
  write(`UPDATE meta SET min_reader = 1, schema_version = ${FIRST - 1}`)
  const before = readFileSync(file)
  for (const refused of [() => openStore(storeOptions(file)), () => inspectFile(file), () => migrateFileDown(options(file), FIRST)]) {
    expect(refused).toThrow(SchemaTooOldError)
    expect(refused).toThrow(`has schema ${FIRST - 1}, of a version before 0.1.0, which no release can open`)
  }
  expect(readFileSync(file).equals(before)).toBe(true)
})
