/** Tests the journal of events, the history of queues, and failures by their kind. Part of the suite. */
import type { JobEvent } from '@millrace/core'
import { type FailureRow, HOUR_MS, hourOf, MINUTE_MS, trendOf } from '@millrace/core/kernel'
import { describe, expect, test } from 'vitest'
import { seqsOf } from './image.ts'
import { ERROR, keyOfJob, type StoreTurns } from './storeTurns.ts'

const ALL = Number.MAX_SAFE_INTEGER

/** Forgets events up to one, in a turn of its own. */
function forget(turns: StoreTurns, upTo: number): void {
  turns.addEffects = (effects) => Object.assign(effects, { forgetEventsBefore: upTo })
  turns.turn()
}

export function journalConformance(under: () => StoreTurns): void {
  describe('events', () => {
    test('come by cursor, in the order in which they happened, with what they say', () => {
      const turns = under()
      turns.attach('w', ['a'])
      const before = turns.tables.nextEvent - 1
      const job = turns.enqueue('a')
      const { wall: at } = turns.now
      turns.run({ op: 'progress', seq: job.seq, run: 1, fraction: 0.25 })
      turns.fail(job, { retry: 500 })
      turns.pause('default', { key: 'k' })
      const of = { jobSeq: job.seq, node: job.node, enqueuedAt: job.enqueuedAt, queue: 'default', name: 'a', at }
      expect(turns.store.events(before, ALL)).toEqual([
        { seq: before + 1, type: 'enqueued', ...of, run: 0, attempt: 0 },
        { seq: before + 2, type: 'started', ...of, run: 1, attempt: 1 },
        { seq: before + 3, type: 'progress', ...of, run: 1, attempt: 1, fraction: 0.25 },
        { seq: before + 4, type: 'retrying', ...of, run: 1, attempt: 1, error: 'TypeError', runAt: at + 500 },
        { seq: before + 5, type: 'queue.paused', queue: 'default', key: 'k', at },
      ])
      expect(seqsOf(turns.store.events(before + 1, 2))).toEqual([before + 2, before + 3])
      expect(turns.store.events(before + 5, 9)).toEqual([])
      expect(seqsOf(turns.store.events(0, ALL))).toEqual([...Array(before + 5).keys()].map((index) => index + 1))
    })

    test('keep the names of what is gone', () => {
      const turns = under()
      const job = turns.enqueue('a', { queue: 'gone' })
      turns.delete(job)
      turns.run({ op: 'deleteQueue', queue: 'gone' })
      const events = turns.store.events(0, ALL).filter((event): event is JobEvent => 'jobSeq' in event)
      expect(events.map(({ type, queue, name }) => [type, queue, name])).toEqual([
        ['enqueued', 'gone', 'a'],
        ['deleted', 'gone', 'a'],
      ])
    })

    test('of many jobs, with other nodes and runs, come back as they were told', () => {
      const turns = under()
      turns.attach('w', ['a'], { minConcurrency: 99, maxConcurrency: 99 })
      turns.call<'forward'>({ op: 'forward', source: 'app', number: 7, first: 1, entries: [{ at: 5, jobs: [{ name: 'a', data: null }] }] })
      const jobs = turns.enqueueAll(...Array.from({ length: 40 }, (_, index) => ({ name: index % 3 === 0 ? 'b' : 'a' })))
      const running = turns.rows().filter(({ state }) => state === 2)
      turns.run(...running.map(({ seq }) => ({ op: 'snooze' as const, seq, run: 1, delay: seq })))
      turns.after(1_000)
      const events = turns.store.events(0, ALL).filter((event): event is JobEvent => 'jobSeq' in event)
      expect(events.filter(({ type }) => type === 'snoozed').map(({ jobSeq, attempt, run }) => [jobSeq, attempt, run])).toEqual(
        running.map(({ seq }) => [seq, 0, 1]),
      )
      expect(events.filter(({ type }) => type === 'started').map(({ run }) => run)).toEqual([
        ...running.map(() => 1),
        ...running.map(() => 2),
      ])
      expect(events.filter(({ type }) => type === 'enqueued')).toHaveLength(jobs.length + 1)
    })
  })

  test('the ends of jobs come alone: so many, of so many events', () => {
    const turns = under()
    turns.attach('w', ['a'])
    const before = turns.tables.nextEvent - 1
    const [one, two, three] = seqsOf(turns.enqueueAll({ name: 'a' }, { name: 'a' }, { name: 'a' })) as [number, number, number]
    turns.run(
      { op: 'complete', seq: one, run: 1, output: null },
      { op: 'fail', seq: two, run: 1, error: ERROR, retry: 9 },
      { op: 'fail', seq: three, run: 1, error: ERROR, retry: false },
      { op: 'pauseAll', paused: true },
    )
    const events = turns.store.events(before, ALL)
    const [first, second] = events.filter(({ type }) => type === 'completed' || type === 'failed').map(({ seq }) => seq) as [number, number]
    const last = events.at(-1)?.seq as number
    const ends = (after: number, limit: number, most = ALL) => {
      const { ends: found, ...page } = turns.store.ends(after, limit, most)
      return [seqsOf(found), page.first, page.last]
    }
    expect(ends(before, 9)).toEqual([[first, second], before + 1, last])
    expect(ends(first, 9)).toEqual([[second], first + 1, last])
    // As far as nothing else has ended, and to the end of the turn if nothing does.
    expect(ends(before, 1)).toEqual([[first], before + 1, second - 1])
    expect(ends(before, 2)).toEqual([[first, second], before + 1, last])
    expect(ends(before, 9, first - before - 1)).toEqual([[], before + 1, first - 1])
    expect(ends(before, 9, first - before)).toEqual([[first], before + 1, second - 1])
    expect(ends(last, 9)).toEqual([[], undefined, undefined])
    expect(turns.store.ends(before, 1, ALL).ends).toEqual([
      { seq: first, jobSeq: one, node: turns.tables.node, enqueuedAt: turns.now.wall, at: turns.now.wall },
    ])
  })

  describe('the extent of the journal', () => {
    test('is none at first, and knows the last event before a time', () => {
      const turns = under()
      expect(turns.store.journal(ALL)).toEqual({ firstEvent: 0, firstAt: 0, firstTurnEnd: 0, lastEvent: 0, bytes: 0 })
      const ends = [...Array(30).keys()].map((index) => {
        turns.pass(index % 4)
        turns.enqueueAll(...Array.from({ length: 1 + (index % 3) }, () => ({ name: 'a' })))
        return { at: turns.now.wall, last: turns.tables.nextEvent - 1 }
      })
      for (const [index, { at, last }] of ends.entries()) {
        const latest = ends.findLast((end) => end.at === at)?.last ?? last
        expect(turns.store.journal(at + 1).lastEvent, `${index}`).toBe(latest)
        expect(turns.store.journal(at).lastEvent).toBe(ends.findLast((end) => end.at < at)?.last ?? 0)
      }
      expect(turns.store.journal(0)).toMatchObject({ firstEvent: 1, firstAt: ends[0]?.at, firstTurnEnd: 1, lastEvent: 0 })
    })

    test('shrinks by whole turns, and the numbers that were given stay known', () => {
      const turns = under()
      for (let turn = 0; turn < 5; turn++) turns.enqueueAll({ name: 'a' }, { name: 'a' })
      const { bytes } = turns.store.journal(0)
      // Into the middle of a turn: that one stays.
      forget(turns, 5)
      expect(turns.store.journal(0)).toMatchObject({ firstEvent: 5, firstTurnEnd: 6 })
      expect(turns.store.journal(0).bytes).toBeLessThan(bytes)
      expect(seqsOf(turns.store.events(0, ALL))).toEqual([5, 6, 7, 8, 9, 10])
      expect(turns.store.ends(0, 9, ALL).first).toBe(5)
      forget(turns, 10)
      expect(turns.store.journal(0)).toEqual({ firstEvent: 0, firstAt: 0, firstTurnEnd: 0, lastEvent: 0, bytes: 0 })
      expect(turns.store.load()).toMatchObject({ nextSeq: 11, nextEvent: 11 })
    })
  })

  describe('the history of a queue', () => {
    const enqueued = (turns: StoreTurns, step: 'minute' | 'hour', from = 0, queue = 'default') =>
      turns.store.minutes(turns.lane('a', queue).queue.id, step, from).map(({ at, totals }) => [at - begin(turns), totals.enqueued])
    const begin = ({ now }: StoreTurns) => now.wall - (now.wall % 3_600_000)

    test('has its totals before each minute and each hour that counted something', () => {
      const turns = under()
      turns.enqueue('a', { queue: 'by' })
      const start = begin(turns)
      turns.enqueueAll({ name: 'a' }, { name: 'a' })
      turns.enqueue('a')
      turns.pass(2 * MINUTE_MS)
      turns.enqueue('a')
      expect(enqueued(turns, 'minute')).toEqual([
        [0, 0],
        [2 * MINUTE_MS, 3],
      ])
      expect(enqueued(turns, 'minute', start + 1)).toEqual([[2 * MINUTE_MS, 3]])
      expect(enqueued(turns, 'hour')).toEqual([[0, 0]])
      expect(enqueued(turns, 'minute', 0, 'by')).toEqual([[0, 0]])
      expect(turns.store.load().minutes).toHaveLength(2)
    })

    test('comes of many queues, the busiest first', () => {
      const turns = under()
      for (const [queue, count] of [
        ['calm', 1],
        ['busy', 3],
        ['other', 2],
      ] as const)
        turns.enqueueAll(...Array.from({ length: count }, () => ({ name: 'a', queue })))
      const { wall } = turns.now
      const busiest = (limit: number, from: number, to: number) => {
        const names: string[] = []
        const count = turns.store.histories({ step: 'minute', from, to }, limit, ({ name, totals }) =>
          names.push(`${name} ${totals.enqueued}`),
        )
        return [count, names]
      }
      expect(busiest(9, 0, ALL)).toEqual([3, ['busy 3', 'other 2', 'calm 1']])
      expect(busiest(1, 0, ALL)).toEqual([3, ['busy 3']])
      expect(busiest(9, 0, wall)).toEqual([0, []])
      turns.run(
        { op: 'cancelMany', filter: { queue: 'busy' }, limit: 9, dryRun: false },
        { op: 'deleteMany', filter: { queue: 'busy' }, limit: 9, dryRun: false },
      )
      turns.run({ op: 'deleteQueue', queue: 'busy' })
      expect(busiest(9, 0, ALL)).toEqual([2, ['other 2', 'calm 1']])
    })
  })

  test('failures are counted by their kind, with the last job of each as long as it is there', () => {
    const turns = under()
    turns.attach('w', ['a', 'b'])
    const { wall } = turns.now
    const fail = (name: string, message: string) => {
      const { seq } = turns.enqueue(name)
      turns.pass(10)
      turns.fail({ seq }, { error: { name: 'E', message }, retry: false })
      return turns.row({ seq })
    }
    fail('a', 'timeout after 5 ms')
    const second = fail('a', 'timeout after 7 ms')
    const other = fail('b', 'refused')
    const [last, first] = turns.store.failures(undefined, 9, 'last')
    expect(last).toMatchObject({ laneId: other.laneId, error: 'E', count: 1, job: keyOfJob(other), message: 'refused' })
    const hours = [{ at: hourOf(wall), before: 0 }]
    expect(first).toMatchObject({
      count: 2,
      hours,
      firstAt: wall + 10,
      lastAt: wall + 20,
      job: keyOfJob(second),
      message: 'timeout after 7 ms',
    })
    expect(turns.store.failures([second.laneId], 9, 'last')).toEqual([first])
    expect(turns.store.failures(undefined, 9, 'count')).toEqual([first, last])
    expect([turns.store.failures(undefined, 1, 'last'), turns.store.failures([], 9, 'last')]).toEqual([[last], []])
    turns.delete(second)
    expect(turns.store.failures([second.laneId], 9, 'last')).toMatchObject([{ count: 2, job: undefined, message: undefined }])
    turns.addEffects = (effects) => Object.assign(effects, { forgetFailuresBefore: wall + 21 })
    turns.turn()
    expect(turns.store.failures(undefined, 9, 'last')).toEqual([last])
  })

  test('a kind of failures has its count before each hour in which it occurred, for a day', () => {
    const turns = under()
    turns.attach('w', ['a'])
    const fail = (message: string) => {
      const { seq } = turns.enqueue('a')
      turns.fail({ seq }, { error: { name: 'E', message }, retry: false })
    }
    fail('bystander')
    const [bystander] = turns.store.failures(undefined, 9, 'last')
    const first = hourOf(turns.now.wall)
    const begin = (hour: number) => turns.pass(first + hour * HOUR_MS - turns.now.wall)
    const group = () => {
      const [found, ...others] = turns.store.failures(undefined, 9, 'count')
      expect(others).toEqual([bystander])
      return found as FailureRow
    }
    begin(1)
    fail('refused')
    fail('refused')
    begin(2)
    fail('refused')
    begin(4)
    fail('refused')
    fail('refused')
    const at = (hour: number) => first + hour * HOUR_MS
    expect(group().hours).toEqual([
      { at: at(1), before: 0 },
      { at: at(2), before: 2 },
      { at: at(4), before: 3 },
    ])
    expect(trendOf(group(), turns.now.wall).slice(-5)).toEqual([0, 2, 1, 0, 2])
    begin(4 + 22)
    expect(trendOf(group(), turns.now.wall)).toEqual([0, 2, ...new Array(22).fill(0)])
    fail('refused')
    expect(group().hours).toEqual([
      { at: at(4), before: 3 },
      { at: at(26), before: 5 },
    ])
    expect(trendOf(group(), turns.now.wall)).toEqual([0, 2, ...new Array(21).fill(0), 1])
  })
}
