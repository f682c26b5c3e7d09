/** Tests the keys of jobs: who holds them, for how long, and how far producers' journals have come. Part of the suite. */
import { LIMITS, sourcedNode } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { standBy } from './standBy.ts'
import { keyOfJob, type StoreTurns } from './storeTurns.ts'

/** Keys that a store must give back as it got them. */
const ODD_KEYS = ['a\u0000b', 'é', '\ud800', '"\\', '%_', ' ']

export function keysConformance(under: () => StoreTurns): void {
  describe('unique keys', () => {
    const unique = (key: string) => ({ unique: { key, onConflict: 'error' as const } })

    test('are held by a job until it ends, each for its name', () => {
      const turns = under()
      const assertBystanders = standBy(turns)
      const job = turns.enqueue('a', unique('k'))
      const key = { name: 'a', key: 'k' }
      expect(turns.store.unique([key, { name: 'b', key: 'k' }, { name: 'a', key: 'none' }])).toEqual([{ ...key, ...keyOfJob(job) }])
      expect(turns.refusal({ op: 'enqueue', jobs: [{ name: 'a', data: null, ...unique('k') }] })).toBe('UNIQUE_CONFLICT')
      turns.enqueue('b', unique('k'))
      turns.cancel(job)
      expect(turns.store.unique([key])).toEqual([])
      expect(turns.store.unique([{ name: 'b', key: 'k' }])).toHaveLength(1)
      expect(turns.store.unique([{ name: 'wait', key: 'by' }])).toHaveLength(1)
      assertBystanders()
    })

    test('go from job to job within a turn', () => {
      const turns = under()
      const assertBystanders = standBy(turns)
      turns.enqueue('a', unique('k'))
      const replacing = { op: 'enqueue' as const, jobs: [{ name: 'a', data: null, unique: { key: 'k', onConflict: 'replace' as const } }] }
      turns.run(replacing, replacing)
      const [holder, ...others] = turns.store.unique([{ name: 'a', key: 'k' }])
      expect([holder?.seq, others]).toEqual([turns.tables.nextSeq - 1, []])
      assertBystanders()
    })

    test('come back to a job that is brought back', () => {
      const turns = under()
      turns.attach('w', ['a'])
      const job = turns.enqueue('a', unique('k'))
      turns.fail(job, { retry: false })
      expect(turns.store.unique([{ name: 'a', key: 'k' }])).toEqual([])
      turns.retry(job)
      expect(turns.store.unique([{ name: 'a', key: 'k' }])).toEqual([{ name: 'a', key: 'k', ...keyOfJob(job) }])
    })

    test('of a deleted job stay with the one that holds them by now', () => {
      const turns = under()
      const first = turns.enqueue('a', unique('k'))
      turns.cancel(first)
      const second = turns.enqueue('a', unique('k'))
      turns.delete(first)
      expect(turns.store.unique([{ name: 'a', key: 'k' }])).toEqual([{ name: 'a', key: 'k', ...keyOfJob(second) }])
    })

    test.each(ODD_KEYS)('come back as they were asked for: %j', (key) => {
      const turns = under()
      const job = turns.enqueue('a', { ...unique(key), idempotencyKey: key, tags: [key] })
      const held = { name: 'a', key, ...keyOfJob(job) }
      expect(turns.store.unique([{ name: 'a', key }])).toEqual([held])
      expect(turns.store.idempotent([{ name: 'a', key }], turns.now.wall)).toEqual([held])
      expect(turns.row(job).extras).toEqual({ uniqueKey: key, idempotencyKey: key, tags: [key] })
    })
  })

  describe('idempotency keys', () => {
    const key = { name: 'a', key: 'k' }
    const forget = (turns: StoreTurns, before: number, limit = 10) => {
      turns.addEffects = (effects) => Object.assign(effects, { forgetKeysBefore: before, forgetKeysLimit: limit })
      turns.turn()
    }

    test('name their job until they run out, and can then be taken anew', () => {
      const turns = under()
      const assertBystanders = standBy(turns)
      const first = turns.enqueue('a', { idempotencyKey: 'k', idempotencyTtl: 100 })
      const until = turns.now.wall + 100
      expect(turns.store.idempotent([key, { name: 'b', key: 'k' }], until - 1)).toEqual([{ ...key, ...keyOfJob(first) }])
      expect(turns.enqueue('a', { idempotencyKey: 'k' })).toMatchObject(keyOfJob(first))
      expect(turns.store.keyExpiry()).toBe(until)
      turns.cancel(first)
      expect(turns.store.idempotent([key], until)).toEqual([])
      turns.pass(100)
      const second = turns.enqueue('a', { idempotencyKey: 'k', idempotencyTtl: 500 })
      expect(second.seq).not.toBe(first.seq)
      expect(turns.store.idempotent([key], turns.now.wall)).toEqual([{ ...key, ...keyOfJob(second) }])
      assertBystanders()
    })

    test('of a throttle or a leading debounce, and of a flow, hold while a job lives, and are looked at again later', () => {
      const turns = under()
      const [first, last] = turns.flow([{}, { parents: [0] }])
      turns.call<'flow'>({
        op: 'flow',
        nodes: [{ ref: 'a', job: { name: 'a', data: null }, parents: [], onFailure: 'fail' }],
        idempotencyKey: 'f',
        idempotencyTtl: 100,
      })
      const flow = turns.tables.nextSeq - 1
      const [held] = turns.known.keys
      if (held === undefined) throw new Error('the flow has no key')
      const until = turns.now.wall + 100
      expect(turns.store.idempotent([held], until - 1)).toMatchObject([{ seq: flow, until: undefined }])
      expect(turns.store.idempotent([held], until)).toMatchObject([{ seq: flow, until: flow }])
      turns.pass(100)
      forget(turns, until)
      expect(turns.store.keyExpiry()).toBe(until + LIMITS.keysKeptMs)
      // Nothing is left of its time that a clock which jumps back would find.
      expect(turns.store.idempotent([held], until - 50)).toMatchObject([{ seq: flow, until: flow }])
      turns.run({ op: 'cancel', id: { ...keyOfJob(turns.row({ seq: flow })) } })
      expect(turns.store.idempotent([held], until)).toEqual([])
      forget(turns, until + LIMITS.keysKeptMs)
      expect(turns.store.keyExpiry()).toBe(0)
      expect([turns.row(first as never), turns.row(last as never)]).toHaveLength(2)
    })

    test('outlive their jobs, and are forgotten in slices, the oldest first', () => {
      const turns = under()
      const { wall } = turns.now
      for (let index = 0; index < 5; index++) turns.enqueue('a', { idempotencyKey: `k${index}`, idempotencyTtl: 100 + index })
      for (const row of turns.rows()) turns.cancel(row)
      turns.prune({ cancelled: { ageMs: 0, count: 0 } })
      expect(turns.rows()).toEqual([])
      const left = () => turns.store.idempotent(turns.known.keys, 0).map(({ key: text }) => text)
      forget(turns, wall + 103, 3)
      expect(left()).toEqual(['k3', 'k4'])
      forget(turns, wall + 103, 3)
      expect([left(), turns.store.keyExpiry()]).toEqual([['k4'], wall + 104])
    })

    test('that live jobs keep count for a slice as those do that are forgotten', () => {
      const turns = under()
      const { wall } = turns.now
      const ended = turns.enqueue('b', { idempotencyKey: 'ended', idempotencyTtl: 100 })
      turns.cancel(ended)
      const nodes = [{ ref: 'a', job: { name: 'a', data: null }, parents: [], onFailure: 'fail' as const }]
      for (const [index, idempotencyKey] of ['kept', 'later'].entries())
        turns.run({ op: 'flow', nodes, idempotencyKey, idempotencyTtl: 101 + index })
      forget(turns, wall + 200, 2)
      expect(turns.store.keyExpiry()).toBe(wall + 102)
      forget(turns, wall + 200, 2)
      expect(turns.store.keyExpiry()).toBe(wall + 200 + LIMITS.keysKeptMs)
    })

    test('are forgotten with a job of which nothing is to be left: its own, and those that met its unique key', () => {
      const turns = under()
      const other = turns.enqueue('a', { idempotencyKey: 'other' })
      const skip = { unique: { key: 'u', onConflict: 'skip' as const } }
      const job = turns.enqueue('a', { ...skip, idempotencyKey: 'own' })
      expect(turns.enqueue('a', { ...skip, idempotencyKey: 'met' }).seq).toBe(job.seq)
      const keys = ['own', 'met', 'other'].map((text) => ({ name: 'a', key: text }))
      expect(turns.store.idempotent(keys, turns.now.wall).map(({ seq }) => seq)).toEqual([job.seq, job.seq, other.seq])
      turns.run({ op: 'deleteMany', filter: {}, ids: [keyOfJob(job)], limit: 1, dryRun: false })
      expect(turns.store.idempotent(keys, turns.now.wall).map(({ key: text }) => text)).toEqual(['other'])
    })
  })

  test('the jobs of a producer’s journal are found by what stands for them, and its offset only grows', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const forward = (source: string, number: number, first: number, names: readonly string[]) =>
      turns.call<'forward'>({
        op: 'forward',
        source,
        number,
        first,
        entries: names.map((name) => ({ at: turns.now.wall - 500, jobs: [{ name, data: `"${name}"` }] })),
      })
    expect(turns.store.offsets(['app', 'other'])).toEqual([])
    forward('app', 17, 1, ['a', 'b'])
    forward('other', 8, 1, ['c'])
    expect(turns.store.offsets(['app', 'none', 'other'])).toEqual([
      { source: 'app', offset: 2 },
      { source: 'other', offset: 1 },
    ])
    const [, second] = turns.rows().filter(({ node }) => node !== turns.tables.node)
    const node = sourcedNode(2, 17)
    expect(turns.store.sourced([node, sourcedNode(9, 17)])).toEqual([second])
    expect(second).toMatchObject({ node, enqueuedAt: turns.now.wall - 500, data: '"b"' })
    expect(turns.store.sourced([node], 1)).toMatchObject([{ data: '"', bytes: { data: 3 } }])
    forward('app', 17, 2, ['b', 'd'])
    expect(turns.store.offsets(['app'])).toEqual([{ source: 'app', offset: 3 }])
    expect(turns.rows().filter((row) => row.node !== turns.tables.node)).toHaveLength(4)
    assertBystanders()
  })
}
