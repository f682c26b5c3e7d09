// What is written beside jobs: lanes, keys, runs, logs, sessions, definitions, the journal and its pruning.
import { BLOCKED, CANCELLED, COMPLETED, type Defaults, FAILED, isJobEvent, LIMITS, WAITING } from '@millrace/core'
import { DIRTY_DELETE, DIRTY_OTHER, DROPPED, type Job, newKey, newKeyBacklog, newLane, newQueue, StoreFailure } from '@millrace/core/kernel'
import { describe, expect, test } from 'vitest'
import type { SqliteStore } from '../store.ts'
import { attemptsOf, openCrowd } from '../testing/crowd.ts'
import { rowsOf } from '../testing/files.ts'
import type { Turns } from '../testing/jobs.ts'
import { prunableOf } from '../testing/prunable.ts'

describe('lanes', () => {
  test('new ones share their queue', () => {
    const { turns, commit, store } = openCrowd()
    const lane = turns.lane('other', 'by')
    turns.insert({ lane })
    expect(commit()).toMatchObject({ gone: [], come: [`lane ${lane.id}`, expect.stringMatching(/^job/)] })
    expect(store.load().lanes.at(-1)).toMatchObject({ queue: 'by', name: 'other', queueId: lane.queue.id, counts: [0, 1, 0, 0, 0, 0, 0] })
  })

  test('counters are written as they are, in the touched lane alone', () => {
    const { turns, commit, store } = openCrowd()
    const lane = turns.lane('work')
    lane.totals.failed = 2 ** 40
    turns.effects.count(lane, COMPLETED, 5)
    expect(commit()).toEqual({ gone: [`lane ${lane.id}`], come: [`lane ${lane.id}`] })
    expect(store.load().lanes.find(({ id }) => id === lane.id)).toMatchObject({ counts: lane.counts, totals: lane.totals })
  })
})

describe('unique keys', () => {
  const name = 'work'

  test('are held and freed', () => {
    const { turns, commit, store } = openCrowd()
    const job = turns.insert()
    turns.effects.uniqueHeld.push({ name, key: 'k', seq: job.seq })
    expect(commit().come).toContain(`unique_key ${job.seq}`)
    expect(store.unique([{ name, key: 'k' }])).toEqual([{ name, key: 'k', seq: job.seq, node: job.node, enqueuedAt: job.enqueuedAt }])
    turns.effects.uniqueFreed.push({ name, key: 'k', seq: job.seq })
    expect(commit()).toEqual({ gone: [`unique_key ${job.seq}`], come: [] })
  })

  test('go from job to job within a turn, whatever the order', () => {
    const { turns, store } = openCrowd()
    const key = 'k'
    const [first, second, third] = [turns.insert(), turns.insert(), turns.insert()]
    turns.effects.uniqueHeld.push({ name, key, seq: first.seq })
    turns.commit()
    // Freed by the first, held and freed by the second, held by the third.
    turns.effects.uniqueFreed.push({ name, key, seq: first.seq }, { name, key, seq: second.seq })
    turns.effects.uniqueHeld.push({ name, key, seq: second.seq }, { name, key, seq: third.seq })
    turns.commit()
    expect(store.unique([{ name, key }])).toMatchObject([{ seq: third.seq }])
  })

  test('stay where their job lost them and took them again within a turn', () => {
    const { turns, commit } = openCrowd()
    const job = turns.insert()
    turns.effects.uniqueHeld.push({ name, key: 'k', seq: job.seq })
    turns.commit()
    turns.effects.uniqueFreed.push({ name, key: 'k', seq: job.seq })
    turns.effects.uniqueHeld.push({ name, key: 'k', seq: job.seq })
    expect(commit()).toEqual({ gone: [], come: [] })
  })

  test('are never taken from a holder', () => {
    const { turns } = openCrowd()
    turns.effects.uniqueHeld.push({ name, key: 'u-work', seq: 999 })
    expect(() => turns.commit()).toThrow(StoreFailure)
  })
})

describe('idempotency keys', () => {
  const key = { name: 'work', key: 'k' }

  test('whose time is over hold while a job lives, and are looked at again later', () => {
    const { turns, store, db } = openCrowd()
    const [first, last, other] = [turns.insert(), turns.insert(), turns.insert()]
    const hold = (key: string, job: Job, lastSeq?: number) =>
      turns.effects.idempotency.push({ name: 'work', key, job, expiresAt: 100, ...(lastSeq !== undefined && { lastSeq }) })
    hold('both', first, last.seq)
    hold('own', first, first.seq)
    hold('time', other)
    turns.commit()
    const keys = ['both', 'own', 'time'].map((key) => ({ name: 'work', key }))
    const held = (at: number) => store.idempotent(keys, at).map(({ key, until }) => [key, until])
    const forget = (at: number) => Object.assign(turns.effects, { forgetKeysBefore: at, forgetKeysLimit: LIMITS.sliceRows })
    expect(held(99)).toEqual([
      ['both', undefined],
      ['own', undefined],
      ['time', undefined],
    ])
    expect(held(100)).toEqual([
      ['both', last.seq],
      ['own', first.seq],
    ])
    forget(100)
    turns.commit()
    expect(store.keyExpiry()).toBe(100 + LIMITS.keysKeptMs)
    // Of their time nothing is left that a clock which jumps back would find.
    expect(held(50)).toEqual([
      ['both', last.seq],
      ['own', first.seq],
    ])
    first.finishedAt = turns.at
    turns.move(first, FAILED)
    turns.commit()
    expect(held(100)).toEqual([['both', last.seq]])
    forget(100 + LIMITS.keysKeptMs)
    turns.commit()
    expect(rowsOf(db, 'idempotency').map((row) => row.key)).toEqual(['i-stand', 'both', 'i-work'])
  })

  test('outlive their job, and are pruned in slices, the oldest first', () => {
    const { turns, commit, db, store } = openCrowd()
    const job = turns.insert()
    for (let index = 0; index < LIMITS.sliceRows + 3; index++) {
      turns.effects.idempotency.push({ name: 'work', key: `k${index}`, job, expiresAt: 100 + index })
    }
    turns.commit()
    const forget = () => Object.assign(turns.effects, { forgetKeysBefore: 2_000, forgetKeysLimit: LIMITS.sliceRows })
    expect(store.keyExpiry()).toBe(100)
    forget()
    expect(commit().gone).toHaveLength(LIMITS.sliceRows)
    expect(store.keyExpiry()).toBe(100 + LIMITS.sliceRows)
    forget()
    expect(commit().gone).toHaveLength(3)
    expect(rowsOf(db, 'idempotency').map((row) => row.key)).toEqual(['i-stand', 'i-work'])
  })

  test('are forgotten with their job where nothing of it is to be left: its own, and where it had a unique key, others', () => {
    const { turns, commit } = openCrowd()
    const [plain, unique] = [turns.insert(), turns.insert()]
    const record = (key: string, job: Job, name = 'work') => turns.effects.idempotency.push({ name, key, job, expiresAt: 9_000 })
    record('own', plain)
    record('other', plain)
    record('own-2', unique)
    record('met', unique)
    record('met', unique, 'elsewhere')
    turns.commit()
    turns.effects.keysForgotten.push({ seq: plain.seq, name: 'work', own: 'own', others: false })
    turns.effects.keysForgotten.push({ seq: unique.seq, name: 'work', own: 'own-2', others: true })
    turns.effects.touch(plain, DIRTY_OTHER)
    const { gone } = commit()
    const seqs = [plain.seq, unique.seq, unique.seq]
    expect(gone.filter((row) => row.startsWith('idempotency')).toSorted()).toEqual(seqs.map((seq) => `idempotency ${seq}`))
  })

  test('of a job that is erased are not taken from the one that has the key by now', () => {
    const { turns, store } = openCrowd()
    const [first, second] = [turns.insert(), turns.insert()]
    turns.effects.idempotency.push({ ...key, job: second, expiresAt: 9_000 })
    turns.effects.keysForgotten.push({ seq: first.seq, name: 'work', own: 'k', others: true })
    turns.commit()
    expect(store.idempotent([key], 1)).toMatchObject([{ seq: second.seq }])
  })
})

describe('runs', () => {
  const error = { name: 'TypeError', message: 'no', stack: 'at a' }

  test('are kept with their errors, the newest of each job', () => {
    const { turns, store, commit } = openCrowd()
    const [job, other] = [turns.insert(), turns.insert()]
    const extra = 4
    for (let run = 1; run <= LIMITS.attemptsPerJob + extra; run++) {
      turns.effects.runs.push({
        seq: job.seq,
        run,
        attempt: run,
        startedAt: run,
        endedAt: run + 1,
        worker: 'w',
        error: { ...error, message: `${run}` },
      })
    }
    turns.effects.runs.push({
      seq: other.seq,
      run: 1,
      attempt: 1,
      startedAt: 1,
      endedAt: 2,
      worker: 'w',
      error: { name: 'E', message: 'm' },
    })
    expect(commit().come.filter((row) => row.startsWith('attempt'))).toHaveLength(LIMITS.attemptsPerJob + 1)
    expect(attemptsOf(store, job.seq)?.[0]).toEqual({
      run: extra + 1,
      attempt: extra + 1,
      startedAt: extra + 1,
      endedAt: extra + 2,
      worker: 'w',
      error: { ...error, message: '5' },
      logs: [],
    })
    expect(store.lastError(job.seq)).toEqual({ ...error, message: `${LIMITS.attemptsPerJob + extra}` })
    expect(store.lastError(other.seq)).toEqual({ name: 'E', message: 'm' })
    expect(store.lastError(999)).toBeUndefined()
  })

  test('one that was given back or snoozed has no error, and hides none', () => {
    const { turns, store, commit } = openCrowd()
    const [job, other] = [turns.insert(), turns.insert()]
    const run = { startedAt: 1, endedAt: 2, worker: 'w' }
    turns.effects.runs.push({ ...run, seq: job.seq, run: 1, attempt: 1, error: { name: '', message: 'of another library' } })
    turns.effects.runs.push({ ...run, seq: job.seq, run: 2, attempt: 2, error: undefined })
    turns.effects.runs.push({ ...run, seq: other.seq, run: 1, attempt: 1, error: undefined })
    commit()
    expect(attemptsOf(store, job.seq)).toEqual([
      { ...run, run: 1, attempt: 1, error: { name: 'Error', message: 'of another library' }, logs: [] },
      { ...run, run: 2, attempt: 2, logs: [] },
    ])
    expect(store.lastError(job.seq)).toEqual({ name: 'Error', message: 'of another library' })
    expect(store.lastError(other.seq)).toBeUndefined()
  })

  test('keep the newest of their log lines, in order', () => {
    const { turns, store } = openCrowd()
    const session = turns.session('worker-9')
    const job = turns.insert()
    turns.start(job, session)
    const lines = LIMITS.logLinesPerRun + 7
    for (let number = 0; number < lines; number++) {
      const line = { at: number, level: 'warn' as const, message: `line ${number}`, ...(number === lines - 1 && { fields: '{"a":1}' }) }
      turns.effects.logs.push({ seq: job.seq, run: 1, number, gone: number - LIMITS.logLinesPerRun, line })
    }
    turns.commit()
    const [current] = attemptsOf(store, job.seq) ?? []
    expect(current).toMatchObject({ run: 1, attempt: 1, worker: 'worker-9', endedAt: 0 })
    expect(current?.logs.map(({ message }) => message)).toEqual(Array.from({ length: 100 }, (_, index) => `line ${index + 7}`))
    expect(current?.logs.at(-1)).toEqual({ at: lines - 1, level: 'warn', message: `line ${lines - 1}`, fields: '{"a":1}' })
    expect(store.load().active.find(({ seq }) => seq === job.seq)?.logLines).toBe(lines)
  })

  test('long past lose their log lines', () => {
    const { turns, db } = openCrowd()
    const job = turns.insert()
    const runs = LIMITS.attemptsPerJob + 3
    for (let run = 1; run <= runs; run++) {
      turns.effects.logs.push({ seq: job.seq, run, number: 0, gone: -1, line: { at: 1, level: 'info', message: 'm' } })
    }
    turns.commit()
    expect(rowsOf(db, `(SELECT run FROM log WHERE seq = ${job.seq})`).map((row) => row.run)).toHaveLength(LIMITS.attemptsPerJob)
  })
})

test('sessions and definitions', () => {
  const definitionOf = (defaults: Defaults) => ({ defaults, session: 's', worker: 'w', host: 'h', saidAt: 5, firstSeq: 3 })
  const define = (name: string, defaults: Defaults, settling = 0) =>
    turns.effects.definitions.push({ name, definition: definitionOf(defaults), settling })
  const { turns, commit, store } = openCrowd()
  const session = turns.session('w', 'uuid-x')
  define('a', { queue: 'q', timeout: Number.POSITIVE_INFINITY, maxAttempts: 3 }, 9)
  define('b', { timeout: 5 })
  expect(commit()).toEqual({ gone: [], come: [`session ${session.id}`, 'definition a', 'definition b'] })
  define('a', { queue: 'q', timeout: Number.POSITIVE_INFINITY })
  expect(commit()).toEqual({ gone: ['definition a'], come: ['definition a'] })
  expect(store.load().definitions).toEqual([
    { name: 'a', definition: definitionOf({ queue: 'q', timeout: Number.POSITIVE_INFINITY }), settling: 0 },
    { name: 'b', definition: definitionOf({ timeout: 5 }), settling: 0 },
    { name: 'stand', definition: { defaults: { priority: 3 }, session: 's', worker: 'w', host: 'h', saidAt: 1, firstSeq: 1 }, settling: 0 },
  ])
})

describe('the journal', () => {
  test('has one row per turn, and is read by cursor', () => {
    const { turns, store, db } = openCrowd()
    const before = turns.nextEvent
    const jobs = [turns.insert(), turns.insert(), turns.insert()]
    const at = turns.at
    turns.commit()
    turns.effects.event('retrying', jobs[0] as (typeof jobs)[0], at + 500, 'TypeError')
    turns.commit()
    expect(rowsOf(db, 'journal')).toHaveLength(3)
    const events = store.events(before - 1, 100)
    expect(events.map(({ seq }) => seq)).toEqual([before, before + 1, before + 2, before + 3])
    expect(events[1]).toMatchObject({ type: 'enqueued', jobSeq: jobs[1]?.seq, queue: 'default', name: 'work', at, run: 0, attempt: 0 })
    expect(events[3]).toMatchObject({ type: 'retrying', jobSeq: jobs[0]?.seq, error: 'TypeError', runAt: at + 500 })
    expect(store.events(before, 2).map(({ seq }) => seq)).toEqual([before + 1, before + 2])
    expect(store.events(before + 3, 10)).toEqual([])
    expect(store.events(0, 10_000)).toHaveLength(turns.nextEvent - 1)
  })

  test('is pruned in whole rows, and its size is known', () => {
    const { turns, store, db } = openCrowd()
    for (let turn = 0; turn < 5; turn++) {
      turns.insert()
      turns.insert()
      turns.commit()
    }
    const size = () => rowsOf(db, 'journal').reduce((sum, row) => sum + (row.packed as Uint8Array).length + 24, 0)
    expect(store.journal(0)).toMatchObject({ firstEvent: 1, lastEvent: 0, bytes: size() })
    // Into the middle of a row: that one stays.
    const last = turns.nextEvent - 1
    turns.effects.forgetEventsBefore = last - 5
    turns.commit()
    expect(rowsOf(db, 'journal').map((row) => row.first_event)).toEqual([last - 5, last - 3, last - 1])
    expect(store.journal(0)).toMatchObject({ firstEvent: last - 5, bytes: size() })
    expect(store.events(0, 100).map(({ seq }) => seq)).toEqual([last - 5, last - 4, last - 3, last - 2, last - 1, last])
  })

  test('needs no row for a turn without events', () => {
    const { turns, db } = openCrowd()
    const rows = rowsOf(db, 'journal').length
    turns.session()
    turns.commit()
    expect(rowsOf(db, 'journal')).toHaveLength(rows)
    expect(rowsOf(db, 'meta')).toMatchObject([{ next_seq: turns.nextSeq, next_event: turns.nextEvent, next_session: turns.nextSession }])
  })
})

describe('how far numbers have come', () => {
  const far = (store: SqliteStore) => {
    const { nextSeq, nextEvent, nextSession } = store.load()
    return { nextSeq, nextEvent, nextSession }
  }

  test.each([
    ['by a turn with events', (turns: Turns) => void turns.insert()],
    ['by a turn without', (turns: Turns) => void turns.session()],
  ])('is known after a turn, %s', (_name, change) => {
    const { turns, store } = openCrowd()
    for (let turn = 0; turn < 3; turn++) {
      change(turns)
      turns.commit()
      const { nextSeq, nextEvent, nextSession } = turns
      expect(far(store)).toEqual({ nextSeq, nextEvent, nextSession })
    }
  })

  test('stays known when the journal has forgotten all', () => {
    const { turns, store, db } = openCrowd()
    turns.insert()
    turns.session()
    turns.commit()
    turns.effects.forgetEventsBefore = turns.nextEvent - 1
    turns.commit()
    expect(rowsOf(db, 'journal')).toEqual([])
    const { nextSeq, nextEvent, nextSession } = turns
    expect(far(store)).toEqual({ nextSeq, nextEvent, nextSession })
    expect(store.journal(0)).toEqual({ firstEvent: 0, firstAt: 0, firstTurnEnd: 0, lastEvent: 0, bytes: 0 })
  })
})

test('the bucket of a key: written with its starts, written again, and gone once it is full', () => {
  const { turns, commit, store } = openCrowd()
  const { queue } = turns.lane('work', 'rated')
  const note = (key: string, fullMono: number) => turns.effects.noteBucket({ ...newKey(queue, key), fullMono })
  Object.assign(queue, { settings: { perKeyRateLimit: { limit: 1, period: 500, burst: 2 } } })
  turns.effects.noteQueue(queue)
  const missingAt = turns.at
  note('k', 1_500)
  note('other', 1_000.25)
  commit()
  const rows = () => store.load().buckets.filter(({ queueId }) => queueId === queue.id)
  expect(rows()).toEqual([
    { queueId: queue.id, key: 'k', missingMs: 500, missingAt },
    { queueId: queue.id, key: 'other', missingMs: 0.25, missingAt },
  ])
  note('k', 2_000)
  note('other', 1_000)
  const { gone, come } = commit()
  expect({ gone, come }).toEqual({ gone: ['key_bucket k', 'key_bucket other'], come: ['key_bucket k'] })
  expect(rows()).toMatchObject([{ key: 'k', missingMs: 1_000 }])
})

test('the turn of a key: taken, told, and over only for the job that has it', () => {
  const { turns, commit, store } = openCrowd()
  const lane = turns.lane('work', 'strict')
  const { queue } = lane
  const gates = [newKeyBacklog(-8, newKey(queue, 'k'), lane), newKeyBacklog(-9, newKey(queue, 'k'), turns.lane('other', 'strict'))] as const
  const [first, second, third] = [
    turns.insert({ lane: gates[1].lane, priority: 1 }),
    turns.insert({ lane, priority: 9 }),
    turns.insert({ lane }),
  ]
  for (const [job, gate] of [
    [first, gates[1]],
    [second, gates[0]],
    [third, gates[0]],
  ] as const) {
    job.parked = gate
    gate.parked++
    turns.effects.noteBacklog(gate)
  }
  turns.effects.noteQueue(queue)
  commit()
  const ask = () => store.turns([{ queueId: queue.id, key: 'k', backlogIds: [-8, -9] }], 1_000).map(({ row, taken }) => [row?.seq, taken])
  expect(ask()).toEqual([[first.seq, false]])
  const record = (seq: number) => ({ queue, key: 'k', seq })
  turns.effects.turnsTaken.push(record(third.seq))
  expect(commit()).toEqual({ gone: [], come: [`key_turn ${third.seq}`] })
  expect(ask()).toEqual([[third.seq, true]])
  turns.effects.turnsOver.push(record(first.seq))
  expect(commit()).toEqual({ gone: [], come: [] })
  // In one turn of the engine: the one that is let go expires at once.
  turns.effects.turnsOver.push(record(third.seq))
  expect(commit()).toEqual({ gone: [`key_turn ${third.seq}`], come: [] })
  turns.effects.turnsTaken.push(record(first.seq))
  turns.effects.turnsOver.push(record(first.seq))
  expect(commit()).toEqual({ gone: [], come: [] })
  // As many as fit the bytes, and one at least.
  const twice = [1, 2].map(() => ({ queueId: queue.id, key: 'k', backlogIds: [-8, -9] }))
  expect([store.turns(twice, 0).length, store.turns(twice, 1_000).length]).toEqual([1, 2])
  expect(store.turns([{ queueId: queue.id, key: 'none', backlogIds: [] }], 0)).toEqual([{ row: undefined, taken: false }])
})

test('jobs of a queue that drops its oldest: by arrival while they are scheduled or waiting, and written under that setting', () => {
  const { turns, commit, store } = openCrowd()
  const lane = turns.lane('work', 'short')
  const { queue } = lane
  turns.insert({ lane })
  turns.commit()
  queue.settings = { maxLength: 3, onFull: 'drop-oldest' }
  turns.effects.noteQueue(queue)
  const jobs = [
    turns.insert({ lane, priority: 9, data: 'x' }),
    turns.insert({ lane: turns.lane('other', 'short'), runAt: turns.at + 9_000 }),
    turns.insert({ lane }),
  ]
  const [first, second, third] = jobs as [Job, Job, Job]
  turns.start(turns.insert({ lane }), turns.session())
  turns.insert({ lane, state: BLOCKED })
  turns.insert({ lane: turns.lane('work', 'long') })
  turns.commit()
  const ask = (limit = 9, bytes = 1_000) => {
    const { rows, complete } = store.arrivals(queue.id, limit, bytes)
    return [rows.map(({ seq }) => seq), complete]
  }
  expect(ask()).toEqual([[first.seq, second.seq, third.seq], true])
  expect([ask(3), ask(2)]).toEqual([
    [[first.seq, second.seq, third.seq], true],
    [[first.seq, second.seq], false],
  ])
  expect(store.arrivals(queue.id, 1, 0).rows).toMatchObject([{ seq: first.seq, data: null, dropped: false }])
  second.checkpoint = '"some"'
  turns.effects.touch(second)
  turns.start(third, turns.session())
  turns.commit()
  // As many as fit the bytes, and one at least.
  expect([ask(9, 3), ask(9, 6)]).toEqual([
    [[first.seq], false],
    [[first.seq, second.seq], true],
  ])
  first.finishedAt = turns.at
  first.dropped = true
  turns.move(first, CANCELLED)
  expect(commit().come).toEqual(expect.arrayContaining([`job ${first.seq}`]))
  expect(ask()).toEqual([[second.seq], true])
  expect(store.jobs([first.seq])).toMatchObject([{ dropped: true, data: 'x' }])
  expect(attemptsOf(store, first.seq)).toMatchObject([{ attempt: 0, error: DROPPED }])
  expect(attemptsOf(store, second.seq)).toEqual([])
  // Brought back, it stands where it stood.
  first.finishedAt = 0
  first.dropped = false
  turns.move(first, WAITING)
  turns.commit()
  expect(ask()).toEqual([[first.seq, second.seq], true])
  queue.settings = {}
  turns.effects.noteQueue(queue)
  turns.effects.touch(second)
  turns.commit()
  expect(ask()).toEqual([[first.seq], true])
})

describe('queues that are deleted', () => {
  test('leave nothing of what they were told, and their events say where they happened', () => {
    const { turns, commit, store } = openCrowd()
    const lane = turns.lane('work', 'short')
    const { queue } = lane
    const job = turns.insert({ lane })
    turns.start(job, turns.session())
    turns.complete(job)
    Object.assign(queue, { settings: { maxLength: 3 }, paused: true })
    turns.effects.noteQueue(queue)
    turns.effects.noteKey({ ...newKey(queue, 'k'), paused: true })
    turns.effects.noteBucket({ ...newKey(queue, 'k'), fullMono: 2_000 })
    turns.commit()
    const before = store.load()
    turns.effects.touch(job, DIRTY_DELETE)
    turns.effects.count(lane, COMPLETED, -1)
    turns.commit()
    queue.gone = true
    turns.effects.queuesGone.push(queue)
    // Lanes and queues keep their rows, under a name that no queue can have.
    expect(commit().come).toEqual([`queue ${queue.id}`])
    const after = store.load()
    expect(after.lanes).toEqual(before.lanes.filter(({ queueId }) => queueId !== queue.id))
    expect(after.queues).toEqual(before.queues.filter(({ id }) => id !== queue.id))
    expect(after.buckets).toEqual(before.buckets.filter(({ queueId }) => queueId !== queue.id))
    expect(before.buckets).toHaveLength(after.buckets.length + 1)
    expect([after.nextLane, after.nextQueue]).toEqual([before.nextLane, before.nextQueue])
    expect(prunableOf(store, queue.id, COMPLETED, turns.at + 1, 9)).toBeUndefined()
    expect(store.events(0, 1_000).filter((event) => isJobEvent(event) && event.queue === 'short')).toHaveLength(3)
  })

  test('another has the name at once, in the same turn too', () => {
    const { turns, store } = openCrowd()
    const first = turns.lane('work', 'short')
    turns.commit()
    const gone = first.queue
    gone.gone = true
    turns.effects.queuesGone.push(gone)
    const created = newQueue(gone.id + 1, 'short')
    created.gone = true
    turns.effects.newLanes.push(newLane(first.id + 1, created, 'work'))
    turns.effects.noteQueue(created)
    turns.effects.queuesGone.push(created)
    const lane = newLane(first.id + 2, newQueue(gone.id + 2, 'short'), 'work')
    turns.effects.newLanes.push(lane)
    turns.commit()
    expect(store.load().lanes.filter(({ queue }) => queue === 'short')).toMatchObject([{ id: lane.id, queueId: gone.id + 2 }])
    expect(store.load()).toMatchObject({ nextLane: lane.id + 1, nextQueue: gone.id + 3 })
  })
})
