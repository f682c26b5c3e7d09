// What stands in a file's place, and what is left beside it.
import fs, { existsSync, linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { StoreFailure } from '@millrace/core/kernel'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { indexFile, savedCopies, walFile } from '../companionFiles.ts'
import { openStore } from '../open-store.ts'
import type { SqliteStore } from '../store.ts'
import { storeOptions, temporaryFolder } from '../testing/files.ts'
import { Turns } from '../testing/jobs.ts'

const open = (file: string, options = {}) => openStore(storeOptions(file, { ballastBytes: 4_096, ...options }))

test('reopening puts no new file in the place of one that is gone', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'jobs.db')
  const store = open(file)
  renameSync(file, `${file}.moved`)
  expect(() => store.reopen()).toThrow(expect.objectContaining({ reason: 'owner' }))
  expect(existsSync(file)).toBe(false)
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
  const [log, index] = [walFile, indexFile]
  const kept: DatabaseSync[] = []
  afterEach(() => kept.splice(0).forEach((db) => void db.close()))

  /** A second copy of SQLite in this process: its close takes the log away. */
  const other =
    (sql: string, how: 'closes' | 'stays' = 'closes') =>
    (file: string) => {
      const db = new DatabaseSync(file)
      db.exec(sql)
      if (how === 'closes') db.close()
      else kept.push(db)
    }
  const all =
    (...harmed: readonly ((file: string) => void)[]) =>
    (file: string) =>
      harmed.forEach((harm) => void harm(file))
  const remove =
    (...names: readonly ((file: string) => string)[]) =>
    (file: string) =>
      names.forEach((of) => void rmSync(of(file)))
  /** Returns the bytes of a file that is moved away. */
  const take = (file: string) => {
    renameSync(file, `${file}.taken`)
    return readFileSync(`${file}.taken`)
  }
  const swallow = (work: () => void) => {
    try {
      work()
      return undefined
    } catch (error) {
      return (error as StoreFailure).reason
    }
  }
  const READ = 'SELECT count(*) FROM job'
  const OWN = 'CREATE TABLE own (x); INSERT INTO own VALUES (1)'

  const PLACES = {
    file: 'is in jobs.db. Close',
    log: 'is in jobs.db and its log. Open',
    copy: 'is in jobs.db.saved-2, and jobs.db may lack',
    nowhere: 'could not be saved',
  } as const
  type Place = keyof typeof PLACES

  /** What happens, and where all is if it happens before a turn, and while one is written. */
  const harms: readonly (readonly [string, Place, Place, (file: string) => void])[] = [
    // What the turn itself has written is in the log alone.
    ['another library has read', 'file', 'copy', other(READ)],
    ['another library has written', 'file', 'copy', other(OWN)],
    // The pages that the engine remembers are others by then.
    ['another library has made it anew', 'file', 'nowhere', other('VACUUM')],
    ['one library has read, and another has written and has it open', 'file', 'copy', all(other(READ), other(OWN, 'stays'))],
    ['the log was deleted', 'log', 'log', remove(log)],
    ['log and index were deleted', 'log', 'log', remove(log, index)],
    ['the log was moved', 'log', 'log', (file) => renameSync(log(file), `${file}-old`)],
    ['the index was deleted', 'log', 'log', remove(index)],
    ['the log was replaced', 'copy', 'copy', (file) => writeFileSync(log(file), take(log(file)))],
    ['the index was deleted, and another library has the file open', 'copy', 'copy', all(remove(index), other(READ, 'stays'))],
    ['log and index were deleted, and another library has written', 'copy', 'copy', all(remove(log, index), other(OWN))],
    // It begins the index anew, which the engine has mapped. The engine's own turn begins it once more.
    ['the log was deleted, and another library has written', 'nowhere', 'copy', all(remove(log), other(OWN))],
    ['the database was deleted', 'copy', 'copy', remove(String)],
    ['all were deleted', 'copy', 'copy', remove(String, log, index)],
    ['the database was moved', 'copy', 'copy', (file) => renameSync(file, `${file}.moved`)],
    ['the database was replaced', 'copy', 'copy', (file) => writeFileSync(file, take(file))],
  ]

  /** Opens a file for the second time, so that it holds something by itself, and writes three jobs into its log. */
  const written = (file: string, options = {}) => {
    open(file).close()
    const store = open(file, options)
    const turns = new Turns(store)
    const write = (during = () => {}) => {
      turns.at += 1_000
      turns.insert()
      turns.commit(during)
    }
    for (let n = 0; n < 3; n++) write()
    return { store, write }
  }
  const jobsOf = (file: string) => {
    const store = open(file)
    const found = store.jobs([1, 2, 3, 4]).filter((row) => row !== undefined).length
    store.close()
    return found
  }
  const ownOf = (file: string) => {
    const db = new DatabaseSync(file)
    const { rows } = db.prepare("SELECT count(*) AS rows FROM sqlite_schema WHERE name = 'own'").get() as { rows: number }
    expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    db.close()
    return rows
  }

  test.each(
    harms.flatMap(
      ([what, before, during, harm]) =>
        [
          ['before', what, before, harm],
          ['while', what, during, harm],
        ] as const,
    ),
  )('%s a turn is written, %s: it is noticed, and what was acknowledged is told', (when, what, place, harm) => {
    const file = join(temporaryFolder(), 'jobs.db')
    const { store, write } = written(file)
    let acknowledged = 3
    if (when === 'before') harm(file)
    else {
      const refused = swallow(() => write(() => harm(file)))
      // The database and the index are looked at every 10 ms.
      expect(refused).toBe(/^(the index|the database)/.test(what) ? undefined : 'owner')
      if (refused === undefined) acknowledged++
    }
    const refusal = expect.objectContaining({ reason: 'owner', message: expect.stringContaining(PLACES[place]) })
    expect(write).toThrow(refusal)
    expect(() => store.beat()).toThrow(refusal)
    const own = what.includes('written') ? 1 : 0
    if (existsSync(file)) expect(ownOf(file)).toBe(own)
    store.close()
    for (const db of kept.splice(0)) db.close()
    if (existsSync(file)) expect(ownOf(file)).toBe(own)
    if (place !== 'nowhere') expect(jobsOf(place === 'copy' ? `${file}.saved-2` : file)).toBeGreaterThanOrEqual(acknowledged)
    expect(readdirSync(dirname(file)).filter((name) => name.includes('partial'))).toEqual([])
  })

  test.each<[string, (store: SqliteStore) => void]>([
    ['a beat', (store) => store.beat()],
    ['a fold', (store) => store.care.foldWal()],
    ['a shrink', (store) => store.care.shrink(1)],
    ['a reopening', (store) => store.reopen()],
    ['a close', (store) => store.close()],
  ])('%s notices it as well, and touches nothing', (what, notice) => {
    const file = join(temporaryFolder(), 'jobs.db')
    const warn = vi.fn()
    const { store } = written(file, { warn })
    remove(log)(file)
    if (what === 'a close') notice(store)
    else expect(() => notice(store)).toThrow(expect.objectContaining({ reason: 'owner' }))
    store.close()
    expect(warn).toHaveBeenCalledTimes(what === 'a close' ? 1 : 0)
    expect(jobsOf(file)).toBe(3)
  })

  test('a second loss leaves the copy of the first', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    // The epochs of both are in logs that are lost, so they are the same.
    open(file).close()
    for (const copies of [['jobs.db.saved-2'], ['jobs.db.saved-2', 'jobs.db.saved-3']]) {
      const store = open(file)
      const turns = new Turns(store)
      turns.insert()
      turns.commit()
      all(remove(log, index), other(OWN.replace('TABLE', 'TABLE IF NOT EXISTS')))(file)
      expect(() => store.beat()).toThrow(copies.at(-1) as string)
      store.close()
      expect(savedCopies(file).toSorted()).toEqual(copies)
    }
    for (const copy of savedCopies(file)) expect(jobsOf(join(dirname(file), copy))).toBe(1)
  })

  test('a folder that cannot be read for a while takes nothing away', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    const { store, write } = written(file)
    const refused = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
    const stat = vi.spyOn(fs, 'statSync').mockImplementation(() => {
      throw refused
    })
    syncBuiltinESMExports()
    write()
    stat.mockRestore()
    syncBuiltinESMExports()
    write()
    store.close()
    expect(jobsOf(file)).toBe(4)
  })

  test('the next open warns of a copy that was saved', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    const warn = vi.fn()
    const { store, write } = written(file)
    writeFileSync(file, take(file))
    expect(write).toThrow('saved-2')
    store.close()
    open(file, { warn }).close()
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('jobs.db.saved-2 has jobs'), { file: 'jobs.db.saved-2' })
  })
})
