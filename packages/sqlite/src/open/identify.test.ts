import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NotADatabaseError, SchemaTooNewError } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { openDatabase } from '../driver.ts'
import { openStore } from '../open-store.ts'
import { storeOptions, temporaryFolder } from '../testing/files.ts'
import { APPLICATION_ID } from './identify.ts'

function foreign(file: string, sql: string): void {
  const db = openDatabase(file)
  db.exec(sql)
  db.close()
}

describe("a file that is not Millrace's is refused and left as it is", () => {
  test('text', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    writeFileSync(file, 'not a database, but long enough to look at'.repeat(100))
    const before = readFileSync(file)
    expect(() => openStore(storeOptions(file))).toThrow(NotADatabaseError)
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test.each([
    ['with tables and no mark', 'CREATE TABLE users (id)'],
    ["with another program's mark", 'PRAGMA application_id = 1234; CREATE TABLE users (id)'],
    ["with another program's mark and no table", 'PRAGMA application_id = 1234'],
    ['in WAL mode', 'PRAGMA journal_mode = WAL; CREATE TABLE users (id)'],
  ])('an SQLite database %s', (_name, sql) => {
    const folder = temporaryFolder()
    const file = join(folder, 'jobs.db')
    foreign(file, sql)
    const before = readFileSync(file)
    expect(() => openStore(storeOptions(file))).toThrow(/another program. Give Millrace a file of its own/)
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(readdirSync(folder)).toEqual(['jobs.db'])
  })
})

describe('a file that nobody has written to is taken', () => {
  test('an empty file', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    writeFileSync(file, '')
    openStore(storeOptions(file)).close()
  })

  test('what is left of a creation that was cut off', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    foreign(file, 'PRAGMA page_size = 4096; PRAGMA auto_vacuum = 2; PRAGMA journal_mode = WAL')
    openStore(storeOptions(file)).close()
  })
})

describe('schemas of newer versions', () => {
  function written(changes: string): string {
    const file = join(temporaryFolder(), 'jobs.db')
    openStore(storeOptions(file)).close()
    foreign(file, changes)
    return file
  }

  test('one that this version must not open is refused', () => {
    const file = written('UPDATE meta SET schema_version = 99, min_reader = 98')
    expect(() => openStore(storeOptions(file))).toThrow(SchemaTooNewError)
    expect(() => openStore(storeOptions(file))).toThrow(/schema 99.*Update Millrace/)
  })

  test('one that has only added is opened', () => {
    const file = written('ALTER TABLE meta ADD COLUMN later TEXT; UPDATE meta SET schema_version = 99')
    openStore(storeOptions(file)).close()
  })
})

test('the mark reads Mlrc', () => {
  const id = Buffer.alloc(4)
  id.writeInt32BE(APPLICATION_ID)
  expect(id.toString()).toBe('Mlrc')
})
