import { join } from 'node:path'
import { InternalError } from '@millrace/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Database } from '../driver.ts'
import { openTestStore, temporaryFolder } from '../testing/files.ts'
import { checkVersion, connectReader, connectWriter } from './connect.ts'
import { checkPragmas, setPragmas, writerSettings } from './pragmas.ts'

function pragma(db: Database, name: string): unknown {
  return db.pragma(name, { simple: true })
}

function closing(db: Database): Database {
  onTestFinished(() => {
    db.close()
  })
  return db
}

describe("M1: the writer's connection", () => {
  test.each([
    ['full', 2],
    ['normal', 1],
  ] as const)('with durability %s has its settings, and still after reading and writing', (durability, synchronous) => {
    const file = join(temporaryFolder(), 'a.db')
    const db = closing(connectWriter(file, { durability, cacheKib: 2_048, platform: 'linux' }))
    const expected = {
      journal_mode: 'wal',
      synchronous,
      busy_timeout: 25,
      temp_store: 2,
      cache_size: -2_048,
      mmap_size: 0,
      foreign_keys: 1,
      page_size: 4_096,
      auto_vacuum: 2,
      journal_size_limit: 64 * 2 ** 20,
      wal_autocheckpoint: 4_000,
    }
    db.exec('CREATE TABLE t (a)')
    db.prepare('SELECT * FROM t').all()
    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, pragma(db, name)]))).toEqual(expected)
  })

  test('syncs again when an existing file is opened, although its driver would not', () => {
    const file = join(temporaryFolder(), 'a.db')
    connectWriter(file, { durability: 'full', cacheKib: 1_024, platform: 'linux' }).close()
    const db = closing(connectWriter(file, { durability: 'full', cacheKib: 1_024, platform: 'linux' }))
    expect(pragma(db, 'synchronous')).toBe(2)
  })

  test.each([true, false])('secure_delete is what was asked for: %s', (secureDelete) => {
    const file = join(temporaryFolder(), 'a.db')
    const db = closing(connectWriter(file, { durability: 'normal', cacheKib: 1_024, secureDelete, platform: 'linux' }))
    expect(pragma(db, 'secure_delete')).toBe(secureDelete ? 1 : 0)
  })

  test('on macOS asks for a full sync', () => {
    const names = (durability: 'full' | 'normal') => writerSettings({ durability, cacheKib: 1, platform: 'darwin' }).map(({ name }) => name)
    expect(names('full')).toEqual(expect.arrayContaining(['fullfsync', 'checkpoint_fullfsync']))
    expect(names('normal')).not.toContain('fullfsync')
  })

  test('refuses to go on where a setting does not hold', () => {
    const db = closing(connectWriter(join(temporaryFolder(), 'a.db'), { durability: 'normal', cacheKib: 1_024, platform: 'linux' }))
    const wanted = [{ name: 'synchronous', value: 2 }]
    expect(() => checkPragmas(db, wanted)).toThrow(InternalError)
    setPragmas(db, wanted)
    expect(() => checkPragmas(db, wanted)).not.toThrow()
    expect(() => checkPragmas(db, [{ name: 'no_such_pragma', value: 1 }])).toThrow('reads back undefined')
  })
})

test("M1: a reader's connection cannot write, and never checkpoints", () => {
  const store = openTestStore()
  const db = closing(connectReader(store.file, 1_024))
  expect(pragma(db, 'query_only')).toBe(1)
  expect(pragma(db, 'wal_autocheckpoint')).toBe(0)
  expect(pragma(db, 'mmap_size')).toBe(0)
  expect(pragma(db, 'cache_size')).toBe(-1_024)
  expect(() => db.exec('DELETE FROM meta')).toThrow()
})

test('an SQLite that corrupts WAL files is refused', () => {
  for (const version of ['3.51.2', '3.50.9', '2.9.9']) expect(() => checkVersion(version)).toThrow(/3\.51\.3 or newer/)
  for (const version of ['3.51.3', '3.52.0', '4.0.0']) expect(() => checkVersion(version)).not.toThrow()
})
