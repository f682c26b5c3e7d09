// An owner that closes folds its log into the database, and has that locked meanwhile: whoever waits for the owner waits for this, too.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AlreadyOpenError, StorageBusyError } from '@millrace/core'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { ownerFile } from '../companionFiles.ts'
import { type Database, type DriverOptions, openDatabase } from '../driver.ts'
import { openStore } from '../open-store.ts'
import { storeOptions, temporaryFolder } from '../testing/files.ts'

const { looks } = vi.hoisted(() => ({ looks: { made: 0, before: (_look: number) => {} } }))
vi.mock('../driver.ts', async (original) => {
  const all = await original<typeof import('../driver.ts')>()
  return {
    ...all,
    openDatabase: (file: string, options: DriverOptions = {}) => {
      const isLook = options.readonly === true && options.timeout !== undefined && file.endsWith('jobs.db')
      if (isLook) looks.before(++looks.made)
      // Nothing is gained by waiting in the thread that has the lock.
      return all.openDatabase(file, isLook ? { ...options, timeout: 0 } : options)
    },
  }
})

beforeEach(() => {
  looks.made = 0
  looks.before = () => {}
})

function written(): string {
  const file = join(temporaryFolder(), 'jobs.db')
  openStore(storeOptions(file)).close()
  looks.made = 0
  return file
}

/** As the last connection of a database with a log has it while it closes. */
function lock(file: string): Database {
  const db = openDatabase(file)
  onTestFinished(() => void db.close())
  db.pragma('locking_mode = EXCLUSIVE')
  db.exec('BEGIN EXCLUSIVE')
  return db
}

test('while the owner has both, it is the owner that is told of, and waited for', () => {
  const file = written()
  lock(file)
  const owner = openDatabase(ownerFile(file))
  owner.pragma('journal_mode = MEMORY')
  owner.exec('BEGIN EXCLUSIVE')
  onTestFinished(() => void owner.close())
  expect(() => openStore(storeOptions(file))).toThrow(AlreadyOpenError)
})

test('whoever has the lock looks again for as long as it was to wait', () => {
  const file = written()
  const closing = lock(file)
  looks.before = (look) => {
    if (look === 4) closing.close()
  }
  openStore(storeOptions(file, { waitMs: 10_000 })).close()
  expect(looks.made).toBe(4)
})

test('and no longer; then others may have it', () => {
  const file = written()
  const closing = lock(file)
  expect(() => openStore(storeOptions(file, { waitMs: 3_000 }))).toThrow(StorageBusyError)
  expect(looks.made).toBe(4)
  closing.close()
  openStore(storeOptions(file)).close()
})

test('a locked file that no engine has ever had gets no owner', () => {
  const file = join(temporaryFolder(), 'jobs.db')
  const foreign = openDatabase(file)
  foreign.exec('CREATE TABLE users (id)')
  foreign.close()
  lock(file)
  expect(() => openStore(storeOptions(file))).toThrow(StorageBusyError)
  expect(existsSync(ownerFile(file))).toBe(false)
})
