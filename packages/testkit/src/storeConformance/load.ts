/** Tests what the tables are built from. Every turn of the suite compares them; here is the rest of it, and reads in one go. */

import { FAILED, LIMITS } from '@millrace/core'
import { FORGOTTEN, forgetNames, MINUTE_MS, type Question } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import { standBy } from './standBy.ts'
import type { StoreTurns } from './storeTurns.ts'

const ALL = Number.MAX_SAFE_INTEGER

export function loadConformance(under: () => StoreTurns): void {
  test('an empty store', () => {
    const { store } = under()
    const { node, ...loaded } = store.load()
    expect(node).toBeGreaterThan(0)
    expect(loaded).toEqual({
      ...{ nextSeq: 1, nextEvent: 1, nextSession: 1, nextLane: 1, nextQueue: 1 },
      ...{
        queues: [],
        pauseEnds: [],
        backlogs: [],
        buckets: [],
        lanes: [],
        active: [],
        present: [],
        definitions: [],
        exports: [],
        freed: [],
        minutes: [],
        kept: [],
      },
      ...{ flowWork: false, paused: false },
    })
    expect(store.deadlines()).toEqual({ dueAt: 0, expiresAt: 0, fireAt: 0 })
    expect([store.keyExpiry(), store.flowDue(9), store.flowLeft(9), store.schedulePage('', undefined, 9)]).toEqual([0, [], [], []])
  })

  test('running jobs come without their payloads, with their worker and the number of lines that they logged', () => {
    const turns = under()
    standBy(turns)
    turns.attach('w', ['a'], { local: false })
    const { seq } = turns.enqueue('a', { data: '"large"' })
    const lines = [1, 2, 3].map((at) => ({ at, level: 'info' as const, message: 'm' }))
    turns.run({ op: 'log', seq, run: 1, lines })
    const { active } = turns.store.load()
    expect(active.find((row) => row.seq === seq)).toMatchObject({
      data: null,
      sessionUuid: 'w',
      worker: 'worker of w',
      remote: true,
      logLines: 3,
    })
    expect(active).toHaveLength(2)
    turns.complete({ seq })
    expect(turns.store.load().active.map((row) => row.seq)).not.toContain(seq)
  })

  test('queues come with what they were told, their pauses, and the level of their buckets', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const rateLimit = { limit: 1, period: 500, burst: 1 }
    const changes = { rateLimit, perKeyRateLimit: rateLimit, defaults: { timeout: Number.POSITIVE_INFINITY } }
    turns.configure('q', changes)
    turns.run({ op: 'pause', queue: 'q', paused: true, key: 'k1' }, { op: 'pause', queue: 'q', paused: true, key: 'k2' })
    turns.attach('w', ['a'])
    turns.enqueue('a', { queue: 'q', concurrencyKey: 'c' })
    turns.run({ op: 'pause', queue: 'q', paused: true }, { op: 'pause', queue: 'q', paused: true, job: 'a' })
    const { queues, buckets, lanes } = turns.store.load()
    const stored = queues.find(({ name }) => name === 'q')
    expect(stored).toMatchObject({ settings: changes, paused: true, missingMs: 500, missingAt: turns.now.wall })
    expect(stored?.pausedKeys.toSorted()).toEqual(['k1', 'k2'])
    expect(buckets).toEqual([{ queueId: stored?.id, key: 'c', missingMs: 500, missingAt: turns.now.wall }])
    expect(lanes.filter(({ paused }) => paused).map(({ queue, name }) => [queue, name])).toEqual([['q', 'a']])
    turns.run({ op: 'pause', queue: 'q', paused: false, key: 'k1' })
    expect(turns.store.load().queues.find(({ name }) => name === 'q')?.pausedKeys).toEqual(['k2'])
    turns.run(
      { op: 'pause', queue: 'q', paused: true, key: 'k3', for: 70 },
      { op: 'pause', queue: 'q', paused: true, job: 'b', for: 60 },
      { op: 'pause', queue: 'other', paused: true, for: 50 },
    )
    const ends = () =>
      turns.store
        .load()
        .pauseEnds.map(({ part, what, until }) => [part, what, until - turns.now.wall])
        .toSorted()
    const others = [
      ['name', 'b', 60],
      ['queue', '', 50],
    ]
    expect(ends()).toEqual([['key', 'k3', 70], ...others])
    turns.pause('q', { key: 'k3', for: 90 })
    expect(ends()).toEqual([['key', 'k3', 90], ...others])
    turns.run({ op: 'pause', queue: 'q', paused: false, key: 'k3' })
    expect(ends()).toEqual(others)
    turns.run({ op: 'pauseAll', paused: true })
    expect(turns.store.load().paused).toBe(true)
    assertBystanders()
  })

  test('workers are there until they leave, and definitions stay', () => {
    const turns = under()
    turns.attach('w', ['a'])
    const handlers = [{ name: 'a', defaults: { maxAttempts: 3, timeout: Number.POSITIVE_INFINITY } }]
    turns.attach('far', [], { local: false, process: 'there', handlers })
    const present = () => turns.store.load().present.map(({ uuid, remote, draining, process }) => [uuid, remote, draining, process])
    expect(present().toSorted()).toEqual([
      ['far', true, false, 'there'],
      ['w', false, false, ''],
    ])
    turns.run({ op: 'drain', session: 'w' })
    expect(present()).toContainEqual(['w', false, true, ''])
    turns.leave('w')
    expect(present()).toEqual([['far', true, false, 'there']])
    const [definition] = turns.store.load().definitions
    expect(definition).toMatchObject({ name: 'a', definition: { session: 'far', defaults: handlers[0]?.defaults } })
  })

  test('a name that nothing uses is gone with its failures, and its totals are kept in its queue; so are defaults', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    const handlers = ['once', 'never'].map((name) => ({ name, defaults: { maxAttempts: 1 } }))
    turns.attach('w', [], { handlers })
    turns.fail(turns.enqueue('once', { queue: 'q' }))
    turns.enqueue('stays', { queue: 'q' })
    turns.run({ op: 'leave', session: 'w' }, { op: 'deleteMany', filter: { queue: 'q', name: 'once' }, limit: 9, dryRun: false })
    const before = turns.store.load()
    const { id } = turns.lane('once', 'q')
    expect(turns.store.failures([id], 9, 'last')).toHaveLength(1)
    const look = () => {
      turns.addEffects = (effects) => void forgetNames({ tables: turns.tables, effects, now: turns.now }, 0)
      turns.turn()
      turns.pass(LIMITS.nameUnusedMs)
    }
    look()
    expect(turns.store.load()).toEqual({ ...before, ...turns.store.load(), lanes: before.lanes, definitions: before.definitions })
    look()
    turns.reload('bystander')
    const after = turns.store.load()
    const ours = (lanes: typeof after.lanes) => lanes.filter(({ queue }) => queue === 'q')
    const [gone] = ours(before.lanes)
    expect(ours(after.lanes).map(({ name }) => name)).toEqual(['stays', FORGOTTEN])
    expect(ours(after.lanes).at(-1)).toMatchObject({ totals: gone?.totals, counts: [0, 0, 0, 0, 0, 0, 0] })
    expect(after.definitions).toEqual(before.definitions.filter(({ name }) => name === 'stand'))
    expect(turns.store.failures([id], 9, 'last')).toEqual([])
    expect(after.nextLane).toBe(before.nextLane + 1)
    turns.enqueue('once', { queue: 'q' })
    assertBystanders()
  })

  test.each([
    ['is forgotten', false],
    ['stays while the journal has an event of it', true],
  ])('a name that was last used before a restart %s', (_, kept) => {
    const turns = under()
    const assertBystanders = standBy(turns)
    turns.delete(turns.enqueue('once', { queue: 'q' }))
    const { wall } = turns.now
    const nextEvent = turns.tables.nextEvent
    turns.pause('q', { job: 'held' })
    turns.run({ op: 'pause', queue: 'q', paused: false, job: 'held' })
    turns.pass(1)
    turns.enqueue('stays', { queue: 'q' })
    const ours = () => turns.store.load().lanes.filter(({ queue }) => queue === 'q')
    const used = () => ours().map(({ name, usedAt, usedEvent }) => ({ name, usedAt, usedEvent }))
    const last = turns.tables.nextEvent
    expect(used()).toEqual([
      { name: 'once', usedAt: wall, usedEvent: nextEvent },
      { name: 'held', usedAt: wall, usedEvent: nextEvent + 2 },
      { name: 'stays', usedAt: wall + 1, usedEvent: last },
    ])
    const before = used()
    turns.pass(LIMITS.nameUnusedMs)
    turns.reload('bystander')
    const firstEvent = kept ? nextEvent - 1 : nextEvent
    turns.addEffects = (effects) => void forgetNames({ tables: turns.tables, effects, now: turns.now }, firstEvent)
    turns.turn()
    expect(ours().map(({ name }) => name)).toEqual(kept ? ['once', 'held', 'stays'] : ['held', 'stays', FORGOTTEN])
    expect(used().filter(({ name }) => name !== FORGOTTEN)).toEqual(kept ? before : before.slice(1))
    assertBystanders()
  })

  test('a deleted queue is gone, and so is all that it was told; nothing else has its numbers', () => {
    const turns = under()
    const assertBystanders = standBy(turns)
    turns.run({ op: 'configure', queue: 'q', changes: { maxLength: 9 } }, { op: 'pause', queue: 'q', paused: true, key: 'k' })
    turns.delete(turns.enqueue('a', { queue: 'q' }))
    const before = turns.store.load()
    const id = before.lanes.find(({ queue }) => queue === 'q')?.queueId
    turns.run({ op: 'deleteQueue', queue: 'q' })
    const after = turns.store.load()
    expect(after.lanes).toEqual(before.lanes.filter(({ queue }) => queue !== 'q'))
    expect(after.queues).toEqual(before.queues.filter(({ name }) => name !== 'q'))
    expect([after.nextLane, after.nextQueue]).toEqual([before.nextLane, before.nextQueue])
    expect(after.minutes).toEqual(before.minutes.filter(({ queueId }) => queueId !== id))
    turns.enqueue('a', { queue: 'q' })
    expect(turns.store.load().lanes.find(({ queue }) => queue === 'q')).toMatchObject({ id: before.nextLane, queueId: before.nextQueue })
    assertBystanders()
  })

  test('exports are known by name, with their cursors; schedules that wait for a job that is gone are freed', () => {
    const turns = under()
    turns.run({ op: 'export', name: 'e', limit: 1 }, { op: 'export', name: 'f', limit: 1 })
    turns.run({ op: 'deleteExport', name: 'f' }, { op: 'export', name: 'f', limit: 1 })
    expect(
      turns.store
        .load()
        .exports.map(({ name }) => name)
        .toSorted(),
    ).toEqual(['e', 'f'])
    turns.run({ op: 'deleteExport', name: 'e' })
    expect(turns.store.load().exports.map(({ name }) => name)).toEqual(['f'])
  })

  test('many questions at once are answered as each alone', () => {
    const turns = under()
    standBy(turns)
    turns.flow([{}, { parents: [0] }])
    const [lane] = turns.store.load().lanes
    const questions: readonly Question[] = [
      { kind: 'jobs', args: [[3, 1, 99]] },
      { kind: 'jobs', args: [[1], 2] },
      { kind: 'window', args: [lane?.id ?? 0, undefined, 2, ALL] },
      { kind: 'unique', args: [[{ name: 'wait', key: 'by' }]] },
      { kind: 'due', args: [ALL, 5] },
      { kind: 'expired', args: [ALL, 5] },
      { kind: 'deadlines', args: [] },
      { kind: 'dependencies', args: [turns.rows().map(({ seq }) => seq)] },
      { kind: 'journal', args: [turns.now.wall + MINUTE_MS] },
      { kind: 'failed', args: [[lane?.id ?? 0], { finishedAt: -1, seq: -1 }, 5] },
      { kind: 'prunable', args: [[{ queueId: lane?.queueId ?? 0, state: FAILED, before: ALL, limit: 9 }], 9] },
      { kind: 'matching', args: [{ laneIds: undefined, filter: { tag: 't' }, indexed: false }, ALL, 3] },
    ]
    const alone = questions.map(({ kind, args }) => (turns.store[kind] as (...values: readonly unknown[]) => unknown)(...args))
    expect(turns.store.read(questions)).toEqual(alone)
    expect(turns.store.read([])).toEqual([])
  })
}
