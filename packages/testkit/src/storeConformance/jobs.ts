/** Tests how a job's row is written and read: one test for each way to write it, beside rows that must stay. Part of the suite. */
import { ACTIVE, CANCELLED, COMPLETED, type Data, FAILED, SCHEDULED, type StateCode, WAITING } from '@millrace/core'
import type { JobRow } from '@millrace/core/kernel'
import { describe, expect, test } from 'vitest'
import { plain, UNBOUNDED } from './image.ts'
import { standBy } from './standBy.ts'
import { ERROR, keyOfJob, type StoreTurns } from './storeTurns.ts'

/** The row of a new job that was given nothing but its name. */
function newRow(turns: StoreTurns, changes: Partial<JobRow>): JobRow {
  return {
    seq: 0,
    node: turns.tables.node,
    laneId: turns.lane('a').id,
    state: WAITING,
    priority: 0,
    weight: 1,
    runAt: turns.now.wall,
    run: 0,
    uncounted: 0,
    sessionId: 0,
    enqueuedAt: turns.now.wall,
    startedAt: 0,
    finishedAt: 0,
    expiresAt: 0,
    cancelRequested: false,
    dropped: false,
    backlogId: 0,
    policy: null,
    extras: undefined,
    data: null,
    checkpoint: null,
    progress: null,
    output: null,
    ...changes,
  }
}

export function jobsConformance(under: () => StoreTurns): void {
  describe('a new job', () => {
    test('that was given nothing', () => {
      const turns = under()
      const assertBystanders = standBy(turns)
      const { seq } = turns.enqueue('a')
      expect(plain(turns.row({ seq }))).toEqual(plain(newRow(turns, { seq })))
      assertBystanders()
    })

    test.each<[string, Data]>([
      ['text', '"d"'],
      ['bytes', new Uint8Array([1, 2])],
      ['nothing', null],
    ])('with the payload of another row: %s, which may leave in the same turn', (_, data) => {
      const turns = under()
      const assertBystanders = standBy(turns)
      const none = { failed: { ageMs: 0, count: 0 } }
      for (const [queue, retention] of [
        ['q', null],
        ['r', none],
      ] as const)
        turns.configure(queue, { deadLetter: 'dead', retention })
      turns.attach('s', ['a'])
      const jobs = turns.enqueueAll({ name: 'a', queue: 'q', data, maxAttempts: 1 }, { name: 'a', queue: 'r', data, maxAttempts: 1 })
      turns.run(...jobs.map(({ seq }) => ({ op: 'fail' as const, seq, run: 1, error: ERROR })))
      const laneIds = [...turns.tables.lanesById.values()].filter(({ queue }) => queue.name === 'dead').map(({ id }) => id)
      const letters = turns.rows().filter(({ laneId }) => laneIds.includes(laneId))
      expect(plain(letters.map((row) => row.data))).toEqual(plain([data, data]))
      expect(plain(turns.rows().filter(({ seq }) => jobs.some((job) => job.seq === seq)))).toMatchObject([
        { state: FAILED, data: plain(data) },
      ])
      assertBystanders()
    })

    test('that was given everything', () => {
      const turns = under()
      const assertBystanders = standBy(turns)
      const backoff = { type: 'fixed' as const, delay: 5 }
      const keys = { idempotencyKey: 'i', unique: { key: 'u', onConflict: 'error' as const }, concurrencyKey: 'c' }
      const policy = { maxAttempts: 2, timeout: Number.POSITIVE_INFINITY, backoff }
      const { seq } = turns.enqueue('a', {
        data: '"d"',
        priority: 7,
        weight: 3,
        delay: 10,
        ttl: 30,
        tags: ['t', 'u'],
        meta: '{"m":1}',
        ...keys,
        ...policy,
      })
      const runAt = turns.now.wall + 10
      const extras = { tags: ['t', 'u'], meta: '{"m":1}', uniqueKey: 'u', idempotencyKey: 'i', concurrencyKey: 'c' }
      expect(turns.row({ seq })).toMatchObject({
        state: SCHEDULED,
        priority: 7,
        weight: 3,
        runAt,
        expiresAt: turns.now.wall + 30,
        data: '"d"',
        extras,
      })
      expect(JSON.parse(turns.row({ seq }).policy ?? '')).toMatchObject({ maxAttempts: 2, timeout: null, backoff })
      assertBystanders()
    })

    test('that starts in the same turn', () => {
      const turns = under()
      const assertBystanders = standBy(turns)
      turns.attach('w', ['a'])
      const { seq } = turns.enqueue('a', { data: '"d"' })
      const { id } = turns.tables.sessions.get('w') ?? { id: 0 }
      const started = { state: ACTIVE as StateCode, run: 1, sessionId: id, startedAt: turns.now.wall, data: '"d"' }
      expect(plain(turns.row({ seq }))).toEqual(plain(newRow(turns, { seq, ...started })))
      assertBystanders()
    })

    test('that was created and removed in one turn leaves nothing', () => {
      const turns = under()
      const assertBystanders = standBy(turns)
      const options = { unique: { key: 'u', onConflict: 'replace' as const }, tags: ['t'], data: null, name: 'a' }
      turns.run({ op: 'enqueue', jobs: [options] }, { op: 'enqueue', jobs: [options] })
      expect(turns.rows().filter(({ laneId }) => laneId === turns.lane('a').id)).toHaveLength(1)
      assertBystanders()
    })

    test.each([1, 9, 10, 50, 51, 137])('in a batch of %i, of which half start', (count) => {
      const turns = under()
      const assertBystanders = standBy(turns)
      turns.attach('w', ['a'], { minConcurrency: count, maxConcurrency: count })
      const names = Array.from({ length: count * 2 }, (_, index) => ({ name: index < count ? 'a' : 'b', data: `${index}` }))
      const jobs = turns.enqueueAll(...names)
      const rows = turns.store.jobs(jobs.map(({ seq }) => seq))
      expect(rows.map(({ data }) => data)).toEqual(names.map(({ data }) => data))
      expect(rows.map(({ state }) => state)).toEqual(names.map(({ name }) => (name === 'a' ? ACTIVE : WAITING)))
      assertBystanders()
    })
  })

  test.each<[string, Data]>([
    ['nothing', null],
    ['an empty string', ''],
    ['text of all planes', '"\u0001é\u{1f600}"'],
    ['no bytes', new Uint8Array()],
    ['bytes', new Uint8Array([0, 1, 127, 128, 255])],
    ['a megabyte', 'x'.repeat(2 ** 20)],
  ])('a payload comes back as it was: %s', (_name, data) => {
    const turns = under()
    const assertBystanders = standBy(turns)
    turns.attach('w', ['a'])
    const { seq } = turns.enqueue('a', { data })
    turns.run({ op: 'checkpoint', seq, run: 1, value: data })
    turns.complete({ seq }, data)
    const { data: stored, output } = turns.row({ seq })
    expect(plain([stored, output])).toEqual(plain([data, data]))
    for (const name of ['data', 'output'] as const) expect(plain(turns.store.payload(seq, name))).toEqual(plain(data))
    assertBystanders()
  })

  test.each<[string, readonly Data[]]>([
    ['texts', ['"a"', '1', '"b,\\"c\\""']],
    ['texts with any character', ['"a"', '\u001f', '{"b":"{}"}', 'c\u001fd', 'NULL']],
    ['texts, one of them empty', ['"a"', '', '"b"']],
    ['empty texts', ['', '']],
    ['no bytes', [new Uint8Array(), new Uint8Array()]],
    ['of every kind', ['"a"', new Uint8Array([1, 2]), null, '']],
  ])('each of the jobs of a turn has its own payload: %s', (_name, payloads) => {
    const turns = under()
    const assertBystanders = standBy(turns)
    turns.attach('w', ['a'])
    turns.attach('v', ['b'])
    const namings = [() => 'a', () => 'c', (index: number) => ['a', 'b', 'c'][index % 3] as string]
    for (const nameOf of namings) {
      const jobs = turns.enqueueAll(...payloads.map((data, index) => ({ name: nameOf(index), data })))
      expect(plain(jobs.map((job) => turns.row(job).data))).toEqual(plain(payloads))
    }
    assertBystanders()
  })

  describe.each([1, 10, 73])('%i at a time', (count) => {
    /** Jobs that wait, behind bystanders. */
    function waiting(): { turns: StoreTurns; seqs: readonly number[]; assertBystanders: () => void } {
      const turns = under()
      const assertBystanders = standBy(turns)
      const jobs = turns.enqueueAll(...Array.from({ length: count }, (_, index) => ({ name: 'a', data: `${index}` })))
      return { turns, seqs: jobs.map(({ seq }) => seq), assertBystanders }
    }

    test('start', () => {
      const { turns, seqs, assertBystanders } = waiting()
      turns.pass(5)
      turns.attach('w', ['a'], { minConcurrency: count, maxConcurrency: count })
      const started = { state: ACTIVE, run: 1, uncounted: 0, startedAt: turns.now.wall }
      for (const [index, row] of turns.store.jobs(seqs).entries()) expect(row).toMatchObject({ ...started, data: `${index}` })
      assertBystanders()
    })

    test('complete', () => {
      const { turns, seqs, assertBystanders } = waiting()
      turns.attach('w', ['a'], { minConcurrency: count, maxConcurrency: count })
      turns.pass(5)
      turns.run(...seqs.map((seq) => ({ op: 'complete' as const, seq, run: 1, output: seq % 2 === 0 ? `${seq}` : null })))
      for (const row of turns.store.jobs(seqs))
        expect(row).toMatchObject({ state: COMPLETED, finishedAt: turns.now.wall, output: row.seq % 2 === 0 ? `${row.seq}` : null })
      assertBystanders()
    })

    test('are deleted', () => {
      const { turns, seqs, assertBystanders } = waiting()
      const rows = turns.store.jobs(seqs)
      turns.run(...rows.slice(1).map((row) => ({ op: 'delete' as const, id: keyOfJob(row) })))
      expect(turns.store.jobs(seqs)).toEqual(rows.slice(0, 1))
      expect(turns.store.jobsInPlace(seqs.slice(0, 3), 1e9)).toEqual([rows[0], undefined, undefined].slice(0, count))
      assertBystanders()
    })
  })

  describe('a job that changes', () => {
    /** A job that runs. */
    function running(options = {}): { turns: StoreTurns; seq: number; assertBystanders: () => void } {
      const turns = under()
      const assertBystanders = standBy(turns)
      turns.attach('w', ['a'])
      const { seq } = turns.enqueue('a', { data: '"d"', ...options })
      turns.pass(5)
      return { turns, seq, assertBystanders }
    }

    test('fails, and waits for its retry', () => {
      const { turns, seq, assertBystanders } = running()
      turns.fail({ seq }, { retry: 40 })
      expect(turns.row({ seq })).toMatchObject({ state: SCHEDULED, run: 1, uncounted: 0, runAt: turns.now.wall + 40, data: '"d"' })
      assertBystanders()
    })

    test('fails for the last time, and is brought back', () => {
      const { turns, seq, assertBystanders } = running()
      turns.fail({ seq }, { retry: false })
      expect(turns.row({ seq })).toMatchObject({ state: FAILED, finishedAt: turns.now.wall, data: '"d"' })
      turns.run({ op: 'leave', session: 'w' }, { op: 'retry', id: keyOfJob(turns.row({ seq })) })
      expect(turns.row({ seq })).toMatchObject({ state: WAITING, finishedAt: 0, run: 1, uncounted: 1, data: '"d"' })
      assertBystanders()
    })

    test('is snoozed and given back, which uses no attempt', () => {
      const { turns, seq, assertBystanders } = running()
      turns.snooze({ seq }, 30)
      expect(turns.row({ seq })).toMatchObject({ state: SCHEDULED, run: 1, uncounted: 1, runAt: turns.now.wall + 30 })
      turns.after(30)
      turns.leave('w')
      expect(turns.row({ seq })).toMatchObject({ state: WAITING, run: 2, uncounted: 2 })
      assertBystanders()
    })

    test('keeps a checkpoint and its progress', () => {
      const { turns, seq, assertBystanders } = running()
      turns.run({ op: 'checkpoint', seq, run: 1, value: '"half"' }, { op: 'progress', seq, run: 1, fraction: 0.5, note: 'n' })
      expect(turns.row({ seq })).toMatchObject({ state: ACTIVE, checkpoint: '"half"', progress: '[0.5,"n"]', data: '"d"' })
      assertBystanders()
    })

    test('is asked to stop', () => {
      const { turns, seq, assertBystanders } = running()
      turns.cancel({ seq })
      expect(turns.row({ seq })).toMatchObject({ state: ACTIVE, cancelRequested: true })
      turns.fail({ seq })
      expect(turns.row({ seq })).toMatchObject({ state: CANCELLED, finishedAt: turns.now.wall })
      assertBystanders()
    })

    test('is updated, with its payload and without', () => {
      const { turns, seq, assertBystanders } = running({ delay: 100 })
      const id = keyOfJob(turns.row({ seq }))
      turns.update(id, { priority: -4, weight: 9, maxAttempts: 3, runAt: turns.now.wall + 7, checkpoint: new Uint8Array([9]) })
      const changed = {
        policy: '{"maxAttempts":3}',
        state: SCHEDULED,
        priority: -4,
        weight: 9,
        runAt: turns.now.wall + 7,
        checkpoint: { bytes: [9] },
      }
      expect(plain(turns.row({ seq }))).toMatchObject({ ...changed, data: '"d"' })
      turns.update(id, { data: '"new"' })
      expect(plain(turns.row({ seq }))).toMatchObject({ ...changed, data: '"new"' })
      assertBystanders()
    })

    test('is found by its new tags, and by no others, until it is deleted', () => {
      const { turns, seq, assertBystanders } = running({ delay: 100, tags: ['p', 'q'] })
      const id = keyOfJob(turns.row({ seq }))
      const tagged = (tag: string) => turns.store.list({ filter: { tag }, limit: 10 }, UNBOUNDED).rows.map((row) => row.seq)
      turns.update(id, { tags: ['q', 'r'], meta: '{"n":2}' })
      expect(['p', 'q', 'r'].map(tagged)).toEqual([[], [seq], [seq]])
      expect(turns.row({ seq })).toMatchObject({ data: '"d"', extras: { tags: ['q', 'r'], meta: '{"n":2}' } })
      // Of several changes in one turn, the last counts.
      turns.run({ op: 'update', id, changes: { tags: ['p'] } }, { op: 'update', id, changes: { tags: ['q', 's'] } })
      expect(['p', 'q', 'r', 's'].map(tagged)).toEqual([[], [seq], [], [seq]])
      turns.run({ op: 'update', id, changes: { tags: ['u'] } }, { op: 'delete', id })
      expect(['q', 's', 'u'].map(tagged)).toEqual([[], [], []])
      assertBystanders()
    })
  })

  test('jobs come in the order in which they are asked for; one place each, or those that are there alone', () => {
    const turns = under()
    const [a, b] = turns.enqueueAll({ name: 'a', data: 'aaaa' }, { name: 'a', data: 'bbbb' }).map(({ seq }) => seq) as [number, number]
    const gone = 99_999
    expect(turns.store.jobs([b, gone, a]).map(({ seq }) => seq)).toEqual([b, a])
    expect(turns.store.jobs([])).toEqual([])
    const inPlace = (bytes: number) => turns.store.jobsInPlace([gone, b, a, gone, b], bytes).map((row) => row?.seq)
    expect(inPlace(1_000)).toEqual([undefined, b, a, undefined, b])
    expect(turns.store.jobsInPlace([b, a], 0).map((row) => row?.seq)).toEqual([b])
    expect(turns.store.jobsInPlace([b, a, b], 8).map((row) => row?.seq)).toEqual([b, a])
    expect(turns.store.payload(gone, 'data')).toBeNull()
  })

  test.each([0, 1, 3, 4, 5, 100])('payloads are cut to %i bytes, at the end of a character, and their sizes are known', (bytesMax) => {
    const turns = under()
    turns.attach('w', ['a'])
    const { seq } = turns.enqueue('a', { data: 'aé😀b' })
    turns.run({ op: 'checkpoint', seq, run: 1, value: new Uint8Array([1, 2, 3, 4, 5]) })
    const cutText = new Map([
      [0, null],
      [1, 'a'],
      [3, 'aé'],
      [4, 'aé'],
      [5, 'aé'],
      [100, 'aé😀b'],
    ]).get(bytesMax)
    const cutBytes = bytesMax === 0 ? null : { bytes: [1, 2, 3, 4, 5].slice(0, bytesMax) }
    const cut = { data: cutText, checkpoint: cutBytes, output: null, bytes: { data: 8, checkpoint: 5, output: null } }
    expect(plain(turns.store.jobs([seq], bytesMax))).toMatchObject([cut])
    expect(plain(turns.store.list({ filter: {}, limit: 1, payloadBytes: bytesMax }, UNBOUNDED).rows)).toMatchObject([cut])
  })
}
