// What stands in a file's place, and what is left beside it.
import { copyFileSync, existsSync, linkSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Database, openDatabase } from '../driver.ts'
import { openStore } from '../open-store.ts'
import { storeOptions, temporaryFolder } from '../testing/files.ts'
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
