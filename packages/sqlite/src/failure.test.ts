// Which storage error means what; each is made for real where that can be done without a special SQLite.

import { join } from 'node:path'
import { StoreFailure } from '@millrace/core/kernel'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Database, openDatabase, sqliteCode } from './driver.ts'
import { connectWriter } from './open/connect.ts'
import { faultyStatements } from './testing/faults.ts'
import { temporaryFolder } from './testing/files.ts'
import { prepareTransaction } from './transaction.ts'

function connect(): Database {
  const file = join(temporaryFolder(), 'a.db')
  const db = connectWriter(file, { durability: 'normal', cacheKib: 1_024, platform: 'linux' })
  onTestFinished(() => {
    db.close()
  })
  db.exec('CREATE TABLE t (a INTEGER PRIMARY KEY, b CHECK (b > 0)) STRICT'.replace('b CHECK', 'b INTEGER CHECK'))
  return db
}

function failureOf(work: () => void): StoreFailure {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(StoreFailure)
    return error as StoreFailure
  }
  throw new Error('it did not fail')
}

const count = (db: Database) => db.prepare('SELECT count(*) FROM t').pluck().get()

describe('before COMMIT nothing has happened', () => {
  test('a constraint is one command’s fault', () => {
    const db = connect()
    const transaction = prepareTransaction(db)
    const failure = failureOf(() =>
      transaction(() => {
        db.exec('INSERT INTO t VALUES (1, 1)')
        db.exec('INSERT INTO t VALUES (2, -1)')
      }),
    )
    expect(failure).toMatchObject({ phase: 'broken', reason: 'statement', message: expect.stringContaining('SQLITE_CONSTRAINT_CHECK') })
    expect(db.inTransaction).toBe(false)
    expect(count(db)).toBe(0)
  })

  test('so is an exception that is none of SQLite’s', () => {
    const db = connect()
    const cause = new RangeError('a bug')
    const failure = failureOf(() =>
      prepareTransaction(db)(() => {
        throw cause
      }),
    )
    expect(failure).toMatchObject({ phase: 'broken', reason: 'statement', message: 'a bug', cause })
    expect(db.inTransaction).toBe(false)
  })

  test('another writer makes it busy, without a long wait', () => {
    const db = connect()
    const other = openDatabase(db.name)
    other.exec('BEGIN IMMEDIATE')
    const begin = performance.now()
    expect(failureOf(() => prepareTransaction(db)(() => {}))).toMatchObject({ phase: 'before', reason: 'busy' })
    expect(performance.now() - begin).toBeLessThan(500)
    other.close()
    prepareTransaction(db)(() => db.exec('INSERT INTO t VALUES (1, 1)'))
    expect(count(db)).toBe(1)
  })

  test('error-not-masked-by-rollback: a full disk rolls back by itself, and is still what is told', () => {
    const db = connect()
    const transaction = prepareTransaction(db)
    db.pragma(`max_page_count = ${Number(db.pragma('page_count', { simple: true })) + 2}`)
    const insert = db.prepare('INSERT INTO t VALUES (?, 1)')
    const failure = failureOf(() =>
      transaction(() => {
        for (let row = 0; row < 10_000; row++) insert.run(row)
      }),
    )
    expect(failure).toMatchObject({ phase: 'before', reason: 'full' })
    expect(sqliteCode(failure.cause)).toBe('SQLITE_FULL')
    expect(db.inTransaction).toBe(false)
    expect(count(db)).toBe(0)
    db.pragma('max_page_count = 100000')
    transaction(() => insert.run(1))
    expect(count(db)).toBe(1)
  })

  test.each([
    ['SQLITE_IOERR_READ', 'before', 'io'],
    ['SQLITE_CORRUPT', 'before', 'io'],
    ['SQLITE_READONLY_DBMOVED', 'before', 'io'],
    ['SQLITE_NOMEM', 'before', 'io'],
    ['SQLITE_BUSY_SNAPSHOT', 'before', 'busy'],
    ['SQLITE_FULL', 'before', 'full'],
    ['SQLITE_CONSTRAINT_UNIQUE', 'broken', 'statement'],
    ['SQLITE_ERROR', 'broken', 'statement'],
    ['SQLITE_TOOBIG', 'broken', 'large'],
  ])('%s from a statement is %s, %s', (code, phase, reason) => {
    const db = connect()
    const faulty = faultyStatements(db, /SELECT 1/, code)
    const statement = faulty.prepare('SELECT 1')
    expect(failureOf(() => prepareTransaction(faulty)(() => statement.run()))).toMatchObject({ phase, reason })
    expect(db.inTransaction).toBe(false)
  })
})

describe('an error of COMMIT itself', () => {
  test.each(['SQLITE_IOERR_FSYNC', 'SQLITE_IOERR_WRITE', 'SQLITE_CORRUPT'])('%s leaves the outcome unknown', (code) => {
    const db = connect()
    const transaction = prepareTransaction(faultyStatements(db, /^COMMIT/, code))
    expect(failureOf(() => transaction(() => {}))).toMatchObject({ phase: 'commit', reason: 'io' })
  })

  test('a full disk means that it has not happened: the log had no room for it', () => {
    const db = connect()
    const transaction = prepareTransaction(faultyStatements(db, /^COMMIT/, 'SQLITE_FULL'))
    expect(failureOf(() => transaction(() => db.exec('INSERT INTO t VALUES (1, 1)')))).toMatchObject({ phase: 'before', reason: 'full' })
    expect(db.inTransaction).toBe(false)
    expect(count(db)).toBe(0)
  })

  test('busy means that it has not happened', () => {
    const db = connect()
    const transaction = prepareTransaction(faultyStatements(db, /^COMMIT/, 'SQLITE_BUSY'))
    expect(failureOf(() => transaction(() => db.exec('INSERT INTO t VALUES (1, 1)')))).toMatchObject({ phase: 'before', reason: 'busy' })
    expect(db.inTransaction).toBe(false)
    expect(count(db)).toBe(0)
  })
})

test('where not even ROLLBACK works, the connection is given up', () => {
  const db = connect()
  const transaction = prepareTransaction(faultyStatements(db, /^ROLLBACK/, 'SQLITE_IOERR'))
  const cause = new Error('the first error')
  const failure = failureOf(() =>
    transaction(() => {
      throw cause
    }),
  )
  expect(failure).toMatchObject({ phase: 'commit', reason: 'io', cause, message: expect.stringContaining('the first error') })
})
