// What stands in a file's place, and what is left beside it.
import { copyFileSync, existsSync, linkSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../driver.ts'
import { openStore } from '../open-store.ts'
import { storeOptions, temporaryFolder } from '../testing/files.ts'
import { Turns } from '../testing/jobs.ts'
import { migrate } from './migrate.ts'

const open = (file: string, options = {}) => openStore(storeOptions(file, { ballastBytes: 4_096, ...options }))

test('reopening puts no new file in the place of one that is gone', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'jobs.db')
  const store = open(file)
  renameSync(file, `${file}.moved`)
  expect(() => store.reopen()).toThrow(expect.objectContaining({ reason: 'owner' }))
  expect(existsSync(file)).toBe(false)
})

test('a copy before a migration that fails leaves nothing behind', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'jobs.db')
  copyFileSync(new URL('../../fixtures/v1.db', import.meta.url), file)
  const db = openDatabase(file)
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
  expect(() => migrate(failing, { file, now: 1 })).toThrow('full')
  db.close()
  expect(readdirSync(folder)).toEqual(['jobs.db'])
})

test('a file whose name ends in a blank is refused: another one would be opened than is locked', () => {
  expect(() => open(join(temporaryFolder(), 'jobs.db '))).toThrow(/ends in a blank/)
})

test('a file with several names is refused, for each would have a log and an owner of its own', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'jobs.db')
  open(file).close()
  linkSync(file, join(folder, 'other.db'))
  expect(() => open(join(folder, 'other.db'))).toThrow(/2 names \(hard links\).*unsafeFilesystem: 'allow'/)
  open(file, { unsafeFilesystem: 'allow' }).close()
})

describe('a file that goes while it is open', () => {
  /** A second copy of SQLite in this process. */
  const other = (file: string, sql: string) => {
    const db = new DatabaseSync(file)
    db.exec(sql)
    return db
  }
  const written = (file: string, between: () => void) => {
    const store = open(file)
    const turns = new Turns(store)
    const write = () => {
      turns.at += 1_000
      turns.insert()
      turns.commit()
    }
    write()
    between()
    return { store, write }
  }

  test.each<[string, (file: string) => void]>([
    ['the log, by another library that has read', (file) => other(file, 'SELECT count(*) FROM job').close()],
    ['the log, by another library that has written', (file) => other(file, 'CREATE TABLE own (x)').close()],
    ['the log, deleted', (file) => rmSync(`${file}-wal`)],
    [
      'the log, with another in its place',
      (file) => {
        renameSync(`${file}-wal`, `${file}-old`)
        copyFileSync(`${file}-old`, `${file}-wal`)
      },
    ],
    ['the index of the log', (file) => rmSync(`${file}-shm`)],
    ['the database', (file) => rmSync(file)],
  ])('%s: the next turn is not acknowledged', (_, mischief) => {
    const file = join(temporaryFolder(), 'jobs.db')
    const { store, write } = written(file, () => mischief(file))
    expect(write).toThrow(
      expect.objectContaining({ phase: 'commit', reason: 'owner', message: expect.stringContaining('under the engine') }),
    )
    store.close()
  })

  test('nothing: another library that has it open, and this one opened again, go on', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    let reader: DatabaseSync | undefined
    const { store, write } = written(file, () => {
      reader = other(file, 'SELECT count(*) FROM job')
    })
    write()
    expect(reader?.prepare('SELECT count(*) AS jobs FROM job').get()).toEqual({ jobs: 2 })
    store.reopen()
    write()
    store.close()
    reader?.close()
  })
})
