import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { isJobEvent, WAITING } from '@millrace/core'
import { type Job, StoreFailure } from '@millrace/core/kernel'
import { describe, expect, test } from 'vitest'
import { openDatabase } from './driver.ts'
import { openCrowd } from './testing/crowd.ts'
import { lookInto, openTestStore, temporaryFolder } from './testing/files.ts'
import { Turns } from './testing/jobs.ts'
import { listed } from './testing/lists.ts'
import { prunableOf } from './testing/prunable.ts'

function failureOf(work: () => void): unknown {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}

describe('a store', () => {
  test('in memory does all that one on disk does', async () => {
    const store = openTestStore({ file: ':memory:' })
    const turns = new Turns(store)
    const job = turns.insert({ data: '"m"' })
    turns.commit()
    expect(store.jobs([job.seq])).toMatchObject([{ data: '"m"', state: WAITING }])
    expect(store.load()).toMatchObject({ nextSeq: 2, node: store.node })
    expect(store.care.restoreBallast()).toBe(true)
    store.care.releaseBallast()
    expect(() => store.reopen()).toThrow(/lost with its connection/)
    const copy = join(temporaryFolder(), 'copy.db')
    expect((await store.care.backup(copy)).bytes).toBeGreaterThan(0)
    expect(openTestStore({ file: copy }).jobs([job.seq])).toMatchObject([{ data: '"m"' }])
  })

  test('knows its room: the pages in the file and in its log, those that are free, and the disk', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    const store = openTestStore({ file })
    const before = store.care.room()
    const turns = new Turns(store)
    for (let job = 0; job < 100; job++) turns.insert({ data: 'x'.repeat(10_000) })
    turns.commit()
    const { all, free } = store.care.freePages()
    const room = store.care.room()
    expect(room).toEqual({ file: 'jobs.db', bytes: all * 4_096, freeBytes: free * 4_096, diskFreeBytes: expect.any(Number) })
    expect(room.bytes).toBeGreaterThan(before.bytes + 1_000_000)
    expect(openTestStore({ file: ':memory:' }).care.room()).toEqual({ bytes: expect.any(Number), freeBytes: expect.any(Number) })
  })

  test('keeps what it was told when it is closed and opened', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    const first = openTestStore({ file })
    const turns = new Turns(first)
    const jobs = [turns.insert(), turns.insert()] as [Job, Job]
    turns.start(jobs[1], turns.session('w', 'u'))
    turns.commit()
    const before = { loaded: first.load(), rows: first.jobs(jobs.map(({ seq }) => seq)) }
    first.close()
    const second = openTestStore({ file, random: () => 0.9 })
    expect({ loaded: second.load(), rows: second.jobs(jobs.map(({ seq }) => seq)) }).toEqual(before)
    expect(second.node).toBe(first.node)
  })

  test('goes on over a new connection after reopen, in the same epoch', () => {
    const { store, turns } = openCrowd()
    const before = store.load()
    store.reopen()
    expect(store.load()).toEqual(before)
    const job = turns.insert()
    turns.commit()
    expect(store.jobs([job.seq])).toHaveLength(1)
  })

  test('answers nothing once it is closed, and closes but once', () => {
    const store = openTestStore()
    store.close()
    store.close()
    expect(failureOf(() => store.load())).toBeInstanceOf(StoreFailure)
    expect(failureOf(() => store.reopen())).toBeInstanceOf(StoreFailure)
  })

  test('stops writing once another engine has the file', () => {
    const { store, turns, db } = openCrowd()
    db.prepare('UPDATE meta SET epoch = epoch + 1').run()
    const job = turns.insert()
    expect(failureOf(() => turns.commit())).toMatchObject({ phase: 'before', reason: 'owner' })
    expect(store.jobs([job.seq])).toEqual([])
    expect(failureOf(() => store.reopen())).toMatchObject({ phase: 'before', reason: 'owner' })
  })

  test('is busy while another program writes, and then goes on', () => {
    const { store, turns } = openCrowd()
    const other = openDatabase(store.file)
    other.exec('BEGIN IMMEDIATE')
    turns.insert()
    expect(failureOf(() => turns.commit())).toMatchObject({ phase: 'before', reason: 'busy' })
    // Reads go on.
    expect(store.load().lanes).toHaveLength(2)
    other.exec('ROLLBACK')
    other.close()
    turns.commit()
  })

  test('reads fail as writes do', () => {
    const { store, db } = openCrowd()
    db.exec('DROP TABLE tag')
    db.exec('ALTER TABLE job RENAME COLUMN data TO gone')
    expect(failureOf(() => store.jobs([1]))).toMatchObject({ phase: 'broken', reason: 'statement' })
  })
})

test('no-open-statement-across-commit: no read leaves the log pinned', () => {
  const { store, turns, db } = openCrowd()
  const lane = turns.lane('work')
  for (let index = 0; index < 50; index++) turns.insert({ lane, runAt: turns.at + 5, expiresAt: turns.at + 5 })
  for (let index = 0; index < 50; index++) turns.insert({ lane })
  turns.commit()
  const reads = [
    () => store.window(lane.id, undefined, 2, 1_000),
    () => store.due(turns.at + 10, 2),
    () => store.expired(turns.at + 10, 2),
    () => store.events(0, 2),
    () => listed(store),
    () => prunableOf(store, 1, 4, turns.at, 1),
    () => store.load(),
  ]
  for (const read of reads) {
    read()
    turns.insert()
    turns.commit()
    // Busy 0: nobody reads an old version any more.
    expect(db.pragma('wal_checkpoint(TRUNCATE)')).toMatchObject([{ busy: 0, log: 0 }])
  }
})

test('ids-over-2^31-all-paths', () => {
  const file = join(temporaryFolder(), 'jobs.db')
  const store = openTestStore({ file })
  const turns = new Turns(store)
  turns.nextSeq = 2 ** 47 + 12_345
  turns.nextEvent = 2 ** 45
  turns.nextSession = 2 ** 33
  turns.at = 2 ** 42
  const session = turns.session()
  const lane = turns.lane()
  const extras = { tags: ['t'], uniqueKey: 'u', idempotencyKey: 'i' }
  const [plain, rich] = [turns.insert({ lane }), turns.insert({ lane, extras, runAt: turns.at + 1, expiresAt: turns.at + 2 })]
  turns.effects.uniqueHeld.push({ name: 'work', key: 'u', seq: rich.seq })
  turns.effects.idempotency.push({ name: 'work', key: 'i', job: rich, expiresAt: turns.at + 9 })
  turns.effects.runs.push({
    seq: rich.seq,
    run: 2 ** 32,
    attempt: 1,
    startedAt: turns.at,
    endedAt: turns.at,
    worker: '',
    error: { name: 'E', message: '' },
  })
  turns.effects.logs.push({
    seq: rich.seq,
    run: 2 ** 32,
    number: 2 ** 35 + 3,
    gone: 2 ** 35 - 97,
    line: { at: turns.at, level: 'info', message: 'm' },
  })
  turns.commit()
  expect(store.jobs([plain.seq, rich.seq]).map(({ seq }) => seq)).toEqual([2 ** 47 + 12_345, 2 ** 47 + 12_346])
  expect(store.window(lane.id, undefined, 9, 999).rows).toMatchObject([{ seq: plain.seq }])
  expect(store.window(lane.id, { ...plain, seq: plain.seq - 1 }, 9, 999).rows).toMatchObject([{ seq: plain.seq }])
  expect(store.window(lane.id, plain, 9, 999).rows).toEqual([])
  expect(store.due(turns.at + 1, 9)).toMatchObject([{ seq: rich.seq }])
  expect(store.expired(turns.at + 2, 9)).toMatchObject([{ seq: rich.seq }])
  expect(store.unique([{ name: 'work', key: 'u' }])).toMatchObject([{ seq: rich.seq }])
  expect(store.idempotent([{ name: 'work', key: 'i' }], 0)).toMatchObject([{ seq: rich.seq }])
  expect(listed(store, { filter: { tag: 't' } })).toMatchObject([{ seq: rich.seq }])
  expect(listed(store, { before: rich.seq })).toMatchObject([{ seq: plain.seq }])
  turns.start(plain, session)
  turns.commit()
  expect(store.load()).toMatchObject({
    nextSeq: turns.nextSeq,
    nextEvent: turns.nextEvent,
    nextSession: 2 ** 33 + 1,
    active: [{ seq: plain.seq, sessionId: 2 ** 33 }],
  })
  turns.complete(plain)
  turns.commit()
  expect(prunableOf(store, 1, 4, turns.at + 1, 9)?.rows).toEqual([{ seq: plain.seq, laneId: plain.lane.id, state: 4 }])
  expect(store.events(2 ** 45 - 1, 9).map((event) => [event.seq, isJobEvent(event) && event.jobSeq])).toEqual([
    [2 ** 45, plain.seq],
    [2 ** 45 + 1, rich.seq],
    [2 ** 45 + 2, plain.seq],
    [2 ** 45 + 3, plain.seq],
  ])
  expect(store.journal(turns.at + 1)).toMatchObject({ firstEvent: 2 ** 45, lastEvent: 2 ** 45 + 3 })
  expect(store.lastError(rich.seq)).toMatchObject({ name: 'E' })
})

test('a log that cannot be written at COMMIT leaves the outcome unknown, and the file whole', (context) => {
  if (process.platform === 'win32') context.skip('there is no ulimit on Windows')
  const file = join(temporaryFolder(), 'jobs.db')
  const script = new URL('./testing/limited-writer.ts', import.meta.url).pathname
  // In units of 1024 bytes in bash.
  const run = spawnSync('bash', ['-c', `ulimit -f 2048; exec "${process.execPath}" "${script}" "${file}"`], { encoding: 'utf8' })
  const { phase, reason, code, acknowledged, kept } = JSON.parse(run.stdout)
  expect({ phase, reason, code }).toEqual({ phase: 'commit', reason: 'io', code: 'SQLITE_IOERR_WRITE' })
  // Over the connection opened anew, and over one in another process.
  expect(kept).toBeGreaterThanOrEqual(acknowledged)
  const store = openTestStore({ file })
  expect(store.jobs(Array.from({ length: acknowledged }, (_, index) => index + 1))).toHaveLength(acknowledged)
  store.close()
  expect(lookInto(file).pragma('integrity_check', { simple: true })).toBe('ok')
})
