/** Tests the window of a lane: its first jobs, which are in memory. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import { dataBytes } from '../../job.ts'
import { WAITING } from '../../lifecycle.ts'
import { LIMITS } from '../../limits.ts'
import { DEFAULT_POLICY } from '../../policy.ts'
import { type Job, newJob } from './job.ts'
import { newLane, newQueue } from './lane.ts'
import { runsBefore, Window } from './window.ts'

const lane = newLane(1, newQueue(1, 'default'), 'a')

type Given = { priority?: number; runAt?: number; weight?: number; data?: string }

function waitingJob(seq: number, { priority = 0, runAt = 0, weight = 1, data = '' }: Given = {}): Job {
  const at = { priority, weight, runAt, expiresAt: 0 }
  return newJob({ seq, node: 1, enqueuedAt: 0 }, lane, WAITING, at, DEFAULT_POLICY, undefined, data)
}

const inOrder = (a: Job, b: Job) => b.priority - a.priority || a.runAt - b.runAt || a.seq - b.seq
const jobsOf = (window: Window) => Array.from({ length: window.size }, (_, index) => window.at(index) as Job)

test('E4, 21: jobs run in the order of priority, then due time, then row', () => {
  const [first, second, third, fourth] = [
    waitingJob(9, { priority: 1, runAt: 5 }),
    waitingJob(8, { runAt: 1 }),
    waitingJob(2, { runAt: 2 }),
    waitingJob(3, { runAt: 2 }),
  ] as const
  const line = [first, second, third, fourth]
  for (const [i, a] of line.entries()) for (const [j, b] of line.entries()) expect(runsBefore(a, b)).toBe(i < j)
})

/** The lane as the disk has it, and its window, driven as the tables drive them. */
class Model {
  readonly window = new Window()
  /** All jobs that wait. */
  disk: Job[] = []
  #seq = 1

  arrive({ bytes, jobsMax, ...given }: { priority: number; runAt: number; weight: number; bytes: number; jobsMax: number }): void {
    const job = waitingJob(this.#seq++, { ...given, data: 'x'.repeat(bytes) })
    this.disk.push(job)
    this.disk.sort(inOrder)
    const before = new Set([...jobsOf(this.window), job])
    const out = this.window.insert(job, jobsMax)
    for (const gone of out) expect(gone.windowed).toBe(false)
    // What was there and what came is in the window or was answered, once.
    expect(new Set([...jobsOf(this.window), ...out])).toEqual(before)
    expect(this.window.size + out.length).toBe(before.size)
    // A job that is turned away changes nothing; one that is let in leaves the window within its bounds.
    if (job.windowed) expect(this.window.size).toBeLessThanOrEqual(jobsMax)
    expect(this.window.bytes <= LIMITS.windowBytes || this.window.size === 1).toBe(true)
  }

  /** A job that waits again without its payload: on disk alone. */
  relineFromDisk(priority: number, runAt: number): void {
    const job = waitingJob(this.#seq++, { priority, runAt })
    const before = jobsOf(this.window)
    const out = this.window.cutAt(job)
    expect([...jobsOf(this.window), ...out]).toEqual(before)
    for (const gone of out) expect([gone.windowed, runsBefore(gone, job)]).toEqual([false, false])
    this.disk.push(job)
    this.disk.sort(inOrder)
  }

  remove(pick: number): void {
    if (this.window.size === 0) return
    const job = this.window.at(pick % this.window.size) as Job
    this.window.remove(job)
    expect(job.windowed).toBe(false)
    this.disk.splice(this.disk.indexOf(job), 1)
  }

  refill(count: number): void {
    const { size } = this.window
    const rest = this.disk.slice(size)
    this.window.extend(rest.slice(0, count), rest.length <= count)
  }

  check(): void {
    const jobs = jobsOf(this.window)
    expect(jobs.map((job) => job.seq)).toEqual(this.disk.slice(0, jobs.length).map((job) => job.seq))
    expect(jobs.every((job) => job.windowed)).toBe(true)
    if (this.window.complete) expect(jobs.length).toBe(this.disk.length)
    expect(this.window.first).toBe(jobs[0])
    expect(this.window.last).toBe(jobs.at(-1))
    expect(this.window.bytes).toBe(jobs.reduce((sum, job) => sum + dataBytes(job.data), 0))
    expect(this.window.lightest).toBe(Math.min(...jobs.map(({ weight }) => weight)))
  }
}

const small = fc.integer({ min: 0, max: 3 })
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('arrive' as const),
      priority: small,
      runAt: small,
      weight: fc.integer({ min: 1, max: 4 }),
      bytes: small,
      jobsMax: fc.constantFrom(3, 8, LIMITS.windowJobs),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reline' as const), priority: small, runAt: small }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('remove' as const), pick: fc.oneof(fc.constant(0), fc.nat(9)) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('refill' as const), count: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) },
)

test('a window has the first jobs of its lane, whatever jobs come, go or are read from disk', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 120, size: 'max' }), (actions) => {
      const model = new Model()
      for (const action of actions) {
        if (action.kind === 'arrive') model.arrive(action)
        else if (action.kind === 'reline') model.relineFromDisk(action.priority, action.runAt)
        else if (action.kind === 'remove') model.remove(action.pick)
        else if (action.kind === 'refill') {
          if (!model.window.complete) model.refill(action.count)
        } else {
          const before = jobsOf(model.window)
          expect(model.window.clear()).toEqual(before)
          expect(before.some((job) => job.windowed)).toBe(false)
          model.window.complete = model.disk.length === 0
        }
        model.check()
      }
    }),
    { numRuns: runs(200) },
  )
})

describe('the bounds of a window', () => {
  test('a window holds LIMITS.windowJobs jobs: the last job leaves for another, and the window is then marked as incomplete', () => {
    const window = new Window()
    for (let seq = 1; seq <= LIMITS.windowJobs; seq++) expect(window.insert(waitingJob(seq))).toEqual([])
    expect([window.size, window.complete]).toEqual([LIMITS.windowJobs, true])
    const last = window.last
    const urgent = waitingJob(5_000, { priority: 1 })
    expect(window.insert(urgent)).toEqual([last])
    expect([window.size, window.complete, window.first]).toEqual([LIMITS.windowJobs, false, urgent])
    const late = waitingJob(5_001)
    expect(window.insert(late)).toEqual([late])
    expect(late.windowed).toBe(false)
  })

  test('a window holds LIMITS.windowBytes of payload, and always one job, however large', () => {
    const window = new Window()
    const half = 'x'.repeat(LIMITS.windowBytes / 2)
    expect(window.insert(waitingJob(1, { data: half }))).toEqual([])
    expect(window.insert(waitingJob(2, { data: half }))).toEqual([])
    const third = waitingJob(3, { data: 'x' })
    expect(window.insert(third)).toEqual([third])
    expect([window.size, window.bytes, window.complete]).toEqual([2, LIMITS.windowBytes, false])
    const huge = new Window()
    expect(huge.insert(waitingJob(4, { data: `${half}${half}x` }))).toEqual([])
    expect(huge.size).toBe(1)
  })

  test('a window keeps its order while many jobs pass through it', () => {
    const window = new Window()
    let removed = 0
    for (let seq = 1; seq <= 5_000; seq++) {
      window.insert(waitingJob(seq))
      if (seq > 10) {
        expect(window.first?.seq).toBe(++removed)
        window.removeFirst()
      }
    }
    expect(jobsOf(window).map((job) => job.seq)).toEqual(Array.from({ length: 10 }, (_, index) => 4_991 + index))
  })

  test('a job that is not in a window cannot be removed from it', () => {
    const window = new Window()
    window.insert(waitingJob(1))
    expect(() => window.remove(waitingJob(2))).toThrow('job 2')
    expect(window.size).toBe(1)
  })
})
