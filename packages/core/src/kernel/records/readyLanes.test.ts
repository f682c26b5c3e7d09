/** Tests how the next job is found among many lanes. */

import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { WAITING } from '../../lifecycle.ts'
import { DEFAULT_POLICY } from '../../policy.ts'
import { type Job, newJob } from './job.ts'
import { type Lane, newLane, newQueue, passTurn } from './lane.ts'
import { ReadyLanes } from './readyLanes.ts'
import { runsBefore, Window } from './window.ts'

const queue = newQueue(1, 'default')
const lanesOf = (count: number) => Array.from({ length: count }, (_, index) => newLane(index + 1, queue, `n${index}`))

function jobOf(lane: Lane, seq: number, priority: number, runAt: number): Job {
  const at = { priority, weight: 1, runAt, expiresAt: 0 }
  return newJob({ seq, node: 1, enqueuedAt: 0 }, lane, WAITING, at, DEFAULT_POLICY, undefined, '')
}

/** The first job of all, looked for in every lane. */
function firstOf(lanes: readonly Lane[]): Job | undefined {
  const firsts = lanes.flatMap(({ paused, window: { first } }) => (paused || first === undefined ? [] : [first]))
  return firsts.reduce<Job | undefined>((best, job) => (best === undefined || runsBefore(job, best) ? job : best), undefined)
}

test('21: the first job of all lanes runs next, however jobs come, go, come back and change', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('insert' as const), lane: fc.nat(4), priority: fc.integer({ min: -1, max: 1 }), runAt: fc.nat(3) }),
    fc.record({
      kind: fc.constantFrom('take' as const, 'remove' as const, 'back' as const, 'pause' as const, 'resume' as const),
      lane: fc.nat(4),
    }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const lanes = lanesOf(5)
      const ready = new ReadyLanes()
      const gone: Job[] = []
      let seq = 0
      const insert = (job: Job) => {
        job.lane.window.insert(job)
        if (job.lane.window.first === job && !job.lane.paused) ready.add(job.lane)
      }
      for (const step of steps) {
        const lane = lanes[step.lane] as Lane
        const { window } = lane
        if (step.kind === 'insert') insert(jobOf(lane, ++seq, step.priority, step.runAt))
        else if (step.kind === 'take') {
          const job = ready.first()
          if (job !== undefined) {
            job.lane.window.remove(job)
            gone.push(job)
          }
        } else if (step.kind === 'remove') {
          const job = window.at(window.size - 1)
          if (job !== undefined) window.remove(job)
        } else if (step.kind === 'back') {
          const job = gone.pop()
          if (job !== undefined) {
            // A run that is tried again: later, and of another priority.
            job.runAt += 1
            job.priority = -job.priority
            insert(job)
          }
        } else {
          lane.paused = step.kind === 'pause'
          if (!lane.paused) ready.add(lane)
        }
        expect(ready.first()).toBe(firstOf(lanes))
      }
    }),
  )
})

/** The same where names take turns: of the highest priority the one whose last turn is longest ago. */
function firstInTurn(lanes: readonly Lane[]): Job | undefined {
  const firsts = lanes.flatMap(({ window: { first } }) => (first === undefined ? [] : [first]))
  const highest = Math.max(...firsts.map(({ priority }) => priority))
  const equal = firsts.filter(({ priority }) => priority === highest)
  const longest = Math.min(...equal.map(({ lane }) => lane.turn))
  return firstOf(equal.filter(({ lane }) => lane.turn === longest).map(({ lane }) => lane))
}

test('21: the first job of the name whose last turn is longest ago runs next while names take turns, whenever that setting changes', () => {
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('insert' as const), lane: fc.nat(4), priority: fc.integer({ min: 0, max: 1 }) }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('take' as const) }) },
    fc.record({ kind: fc.constant('tell' as const), fair: fc.boolean() }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const fair = newQueue(1, 'fair')
      const lanes = Array.from({ length: 5 }, (_, index) => newLane(index + 1, fair, `n${index}`))
      const ready = new ReadyLanes()
      let seq = 0
      for (const step of steps) {
        if (step.kind === 'insert') {
          const lane = lanes[step.lane] as Lane
          const job = jobOf(lane, ++seq, step.priority, 0)
          lane.window.insert(job)
          if (lane.window.first === job) ready.add(lane)
        } else if (step.kind === 'tell') {
          fair.settings = step.fair ? { fairness: 'name' } : {}
          for (const lane of lanes) lane.turn = 0
          ready.reorder()
        } else {
          const job = ready.first()
          if (job !== undefined) {
            passTurn(job.lane)
            job.lane.window.remove(job)
          }
        }
        expect(ready.first()).toBe(fair.settings.fairness === undefined ? firstOf(lanes) : firstInTurn(lanes))
      }
    }),
  )
})

test('a hand-out looks at few of 100,000 lanes', () => {
  const lanes = lanesOf(100_000)
  const ready = new ReadyLanes()
  for (const [index, lane] of lanes.entries()) {
    for (const later of [0, 1]) lane.window.insert(jobOf(lane, index + later * lanes.length, 0, later))
    ready.add(lane)
  }
  const looked = vi.spyOn(Window.prototype, 'first', 'get')
  for (let taken = 0; taken < 1_000; taken++) {
    const job = ready.first() as Job
    expect(job.seq).toBe(taken)
    job.lane.window.remove(job)
  }
  expect(looked.mock.calls.length).toBeLessThan(5_000)
  looked.mockRestore()
})

test('a lane that is empty or paused leaves the ready lanes when it is looked at', () => {
  const [dry, paused] = lanesOf(2) as [Lane, Lane]
  const ready = new ReadyLanes()
  for (const [index, lane] of [dry, paused].entries()) {
    lane.window.insert(jobOf(lane, index, 0, 0))
    ready.add(lane)
  }
  expect([...ready.lanes()]).toEqual([dry, paused])
  dry.window.removeFirst()
  paused.paused = true
  expect([ready.first(), [...ready.lanes()]]).toEqual([undefined, []])
})
