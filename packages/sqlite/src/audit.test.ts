// What an audit says of a sound file, of each kind of broken one, of an older one, and of one that an engine has open; and that it changes nothing.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NotADatabaseError, SchemaTooNewError } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { auditFile, inspectFile } from './audit.ts'
import { openDatabase } from './driver.ts'
import { MIGRATIONS, SCHEMA_VERSION } from './migrations/list.ts'
import { openCrowd } from './testing/crowd.ts'
import { lookInto, openTestStore, temporaryFolder } from './testing/files.ts'
import { makeForeign, makeTooNew, tamper } from './testing/inspect.ts'

const SOUND = { integrity: [], counters: [], lists: [] }

/** A closed file with jobs in all states. */
function crowdFile(): string {
  const { store } = openCrowd()
  store.close()
  return store.file
}

describe('a sound file', () => {
  test('has no problems, and says what it is', () => {
    const file = crowdFile()
    const { facts, problems } = auditFile(file)
    expect(problems).toEqual(SOUND)
    expect(facts).toMatchObject({ schemaVersion: SCHEMA_VERSION, knownVersion: SCHEMA_VERSION, epoch: 1, createdAt: 1_700_000_000_000 })
    expect(facts.migrations.map(({ id }) => id)).toEqual(MIGRATIONS.map(({ id }) => id))
    expect(facts.lastEventAt).toBeGreaterThanOrEqual(facts.createdAt)
    expect(facts.fileBytes).toBeGreaterThan(0)
    expect(facts.journalMode).toBe('wal')
    for (const { name, value, wanted } of facts.settings) expect(`${name} ${value}`).toBe(`${name} ${wanted}`)
    expect(inspectFile(file)).toEqual(facts)
  })

  test('is left as it is', () => {
    const file = crowdFile()
    const before = readFileSync(file)
    auditFile(file)
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test('may be open, and is seen as of its last commit', () => {
    const { store, turns } = openCrowd()
    expect(auditFile(store.file).problems).toEqual(SOUND)
    turns.insert()
    turns.commit()
    const { facts, problems } = auditFile(store.file)
    expect(problems).toEqual(SOUND)
    expect(facts.walBytes).toBeGreaterThan(0)
  })

  test('may be a backup that nobody has opened yet', async () => {
    const { store } = openCrowd()
    const copy = join(temporaryFolder(), 'copy.db')
    await store.care.backup(copy)
    expect(auditFile(copy)).toMatchObject({ facts: { epoch: 1, walBytes: 0 }, problems: SOUND })
  })

  test('may be empty', () => {
    const store = openTestStore()
    store.close()
    expect(auditFile(store.file)).toMatchObject({ facts: { lastEventAt: 0 }, problems: SOUND })
  })
})

describe('a broken file', () => {
  test('a counter that is not its rows, by queue and name; the others are passed over', () => {
    const file = crowdFile()
    tamper(file, 'UPDATE lane SET waiting = waiting + 5 WHERE id = 1')
    const { counters, ...others } = auditFile(file).problems
    expect(counters).toEqual([expect.stringMatching(/^queue \S+, jobs \S+: counted \d+ waiting, found \d+$/)])
    expect(others).toEqual({ integrity: [], lists: [] })
  })

  test('jobs that wait for a retry, and are counted otherwise', () => {
    const file = crowdFile()
    tamper(file, 'UPDATE job SET run = 1 WHERE state = 0 AND lane = 1')
    expect(auditFile(file).problems).toEqual({
      ...SOUND,
      counters: [expect.stringMatching(/^queue by, jobs stand: counted 0 retrying, found 1$/)],
    })
  })

  test('finished jobs that no batch names', () => {
    const file = crowdFile()
    const finished = lookInto(file).prepare('SELECT count(*) FROM job WHERE state >= 4').pluck().get() as number
    expect(finished).toBeGreaterThan(0)
    tamper(file, 'DELETE FROM finished')
    tamper(file, 'DELETE FROM kept')
    expect(auditFile(file).problems).toEqual({ ...SOUND, lists: [expect.stringContaining(`${finished} finished jobs are in no batch`)] })
  })

  test('jobs with a time of their own that are miscounted, or in no batch', () => {
    const file = crowdFile()
    tamper(file, 'UPDATE kept_count SET cancelled = cancelled + 2')
    tamper(file, 'DELETE FROM kept')
    expect(auditFile(file).problems).toEqual({
      integrity: [],
      counters: ['queue default: counted 3 cancelled jobs with a keep of their own, found 1'],
      lists: [expect.stringContaining('1 finished jobs are in no batch')],
    })
  })

  test('running jobs that opening the file would not find', () => {
    const file = crowdFile()
    tamper(file, "UPDATE running SET event = (SELECT max(first_event) + 1000 FROM journal), seqs = x''")
    expect(auditFile(file).problems.lists[0]).toMatch(/^the job of row \d+ runs, and would not be found/)
  })

  test('damaged pages', () => {
    const file = crowdFile()
    const db = openDatabase(file)
    const page = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'job_waiting'").pluck().get() as number
    db.close()
    const bytes = readFileSync(file)
    bytes.fill(0xff, (page - 1) * 4096, (page - 1) * 4096 + 12)
    writeFileSync(file, bytes)
    const { integrity } = auditFile(file).problems
    expect(integrity.join()).toMatch(/malformed|btree|page/i)
  })
})

test("a file of a newer version, another program's, and none", () => {
  const newer = crowdFile()
  makeTooNew(newer)
  expect(() => inspectFile(newer)).toThrow(SchemaTooNewError)
  const foreign = join(temporaryFolder(), 'diary.db')
  makeForeign(foreign)
  expect(() => auditFile(foreign)).toThrow(NotADatabaseError)
  const none = join(temporaryFolder(), 'none.db')
  expect(() => inspectFile(none)).toThrow(/there is no file/)
  expect(existsSync(none)).toBe(false)
})
