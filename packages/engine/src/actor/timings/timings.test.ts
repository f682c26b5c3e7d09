import type { JobEventType } from '@millrace/core'
import { type Effects, type EventNote, type Job, type Lane, newLane, newQueue } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import { holdingsOf } from '../../../../testkit/src/testing/holdings.ts'
import { Timings } from './timings.ts'

const lane = (id: number): Lane => newLane(id, newQueue(1, 'q'), `n${id}`)

function note(type: JobEventType, of: Lane, job: Partial<Job> = {}, attempt = 1): EventNote {
  return {
    type,
    job: { lane: of, runAt: 100, startedAt: 140, policy: {}, ...job } as Job,
    run: 1,
    attempt,
    error: undefined,
    value: undefined,
  }
}

const turn = (...events: EventNote[]): Effects => ({ events, interrupted: [], lanesGone: [], queuesGone: [] }) as unknown as Effects

test('waits count from when a job was due, runs from the hand-out; runs that failed count too', () => {
  const timings = new Timings()
  const one = lane(1)
  timings.note(turn(note('enqueued', one), note('started', one, { runAt: 95 })), 100)
  timings.note(turn(note('completed', one, { startedAt: 88 }), note('retrying', one, { startedAt: 88 })), 100)
  timings.note(turn(note('failed', one, { startedAt: 88 })), 100)
  expect(timings.stats()).toEqual([
    {
      queue: 'q',
      name: 'n1',
      started: 1,
      completed: 1,
      failed: 2,
      interrupted: 0,
      waitMs: { p50: 5, p95: 5, p99: 5, sum: 5, buckets: [0, 0, 0, 1] },
      runMs: { p50: 12, p95: 12, p99: 12, sum: 36, buckets: [0, 0, 0, 0, 3] },
    },
  ])
})

test('percentiles alone, or nothing at all', () => {
  const timings = new Timings()
  timings.note(turn(note('started', lane(1), { runAt: 95 }), note('completed', lane(1), { startedAt: 88 })), 100)
  const whole = timings.stats()[0] ?? expect.fail()
  const { sum: _wait, buckets: _waits, ...waitMs } = whole.waitMs
  const { sum: _run, buckets: _runs, ...runMs } = whole.runMs
  expect(timings.stats('percentiles')).toEqual([{ ...whole, waitMs, runMs }])
  expect(timings.stats('histograms')).toEqual([whole])
  expect(timings.stats('none')).toEqual([])
})

test('what never ran has no run time', () => {
  const timings = new Timings()
  timings.note(turn(note('failed', lane(1), { startedAt: 0 }, 0), note('cancelled', lane(1))), 100)
  expect(timings.stats()).toEqual([])
})

test.each(['lanesGone', 'queuesGone'] as const)('a name that comes back after it was among %s is reported once', (gone) => {
  const timings = new Timings()
  const [before, after] = [lane(1), newLane(2, newQueue(1, 'q'), 'n1')]
  before.queue.lanes.set('n1', before)
  timings.note(turn(note('started', before)), 100)
  timings.note({ ...turn(), [gone]: gone === 'lanesGone' ? [before] : [before.queue] } as unknown as Effects, 200)
  expect(timings.stats()).toEqual([])
  timings.note(turn(note('started', after)), 300)
  expect(timings.stats()).toMatchObject([{ queue: 'q', name: 'n1', started: 1 }])
})

test('names are bounded: one that is quiet makes room, one that runs all the time does not', () => {
  const timings = new Timings(8)
  const busy = lane(1)
  for (let round = 0; round < 100; round++) {
    for (const of of [busy, lane(10 + 2 * round), busy, lane(11 + 2 * round)]) timings.note(turn(note('started', of)), 100)
    expect(timings.stats().length).toBeLessThanOrEqual(8)
  }
  const [first, ...others] = timings.stats()
  expect(first).toMatchObject({ name: 'n1', started: 200 })
  for (const other of others) expect(other).toMatchObject({ started: 1, completed: 0 })
  expect(others.map(({ name }) => name)).toContain('n209')
})

test('no lane is held: one would lead to all that the tables before a reload had in memory', () => {
  const timings = new Timings()
  for (const of of [lane(1), lane(2)]) timings.note(turn(note('started', of), note('completed', of)), 100)
  expect([...holdingsOf(timings)]).toEqual([['.entries', 2]])
})
