import { CANCELLED, COMPLETED, DEFERRED, FAILED, Refused, type Reply, type StateCode, WAITING } from '@millrace/core'
import { Effects, type Job, type JobRow, type Store } from '@millrace/core/kernel'
import { beforeEach, expect, test } from 'vitest'
import { ResultWaiters } from './results.ts'

const key = (seq: number) => ({ seq, node: 1, enqueuedAt: 5 })

let rows: Map<number, Partial<JobRow>>
/** The jobs in memory. */
let live: Map<number, Job>
/** The seqs of each read. */
let reads: (readonly number[])[]
let store: Store
let watches: ResultWaiters
let told: [connection: number, reply: Reply][]

beforeEach(() => {
  rows = new Map()
  live = new Map()
  reads = []
  store = {
    sourced: () => [],
    jobs: (seqs: readonly number[]) => {
      reads.push(seqs)
      return seqs.flatMap((seq) => (rows.has(seq) ? [rows.get(seq)] : []))
    },
    jobsInPlace: (seqs: readonly number[]) => {
      reads.push(seqs)
      return seqs.map((seq) => rows.get(seq))
    },
    lastError: () => ({ name: 'E', message: 'no' }),
  } as unknown as Store
  watches = new ResultWaiters()
  told = []
})

const post = (connection: number, reply: Reply) => void told.push([connection, reply])
const ask = (seq: number, connection = 1, request = seq) => watches.ask(store, live, key(seq), { connection, request })

function row(seq: number, state: StateCode, change: Partial<JobRow> = {}): void {
  rows.set(seq, { ...key(seq), state, run: 3, uncounted: 1, output: null, ...change })
}

function settle(...jobs: Partial<Job>[]): void {
  const effects = new Effects()
  effects.settled.push(...(jobs as Job[]))
  watches.settle(effects, post)
}

test('a job that is final is answered at once', () => {
  row(1, COMPLETED, { output: '5' })
  row(2, FAILED)
  row(3, CANCELLED)
  expect([ask(1), ask(2), ask(3)]).toEqual([
    { state: 'completed', output: '5' },
    { state: 'failed', error: { name: 'E', message: 'no' }, attempt: 2 },
    { state: 'cancelled' },
  ])
})

test('one that is not there, or of another node or time, is refused', () => {
  row(1, WAITING)
  for (const id of [key(2), { ...key(1), node: 2 }, { ...key(1), enqueuedAt: 6 }]) {
    const answer = watches.ask(store, live, id, { connection: 1, request: 1 })
    expect(answer).toBeInstanceOf(Refused)
    expect((answer as Refused).refusal.code).toBe('JOB_NOT_FOUND')
  }
})

test('a job that has not ended in memory is waited for without a read', () => {
  row(1, WAITING)
  live.set(1, { ...key(1), state: WAITING } as Job)
  expect(ask(1)).toBe(DEFERRED)
  expect(reads).toEqual([])
  settle({ ...key(1), state: COMPLETED, output: '7' })
  expect(told).toEqual([[1, { id: 1, value: { state: 'completed', output: '7' } }]])
})

test('one of memory that is not the job is no answer', () => {
  row(1, COMPLETED, { output: '1' })
  live.set(1, { ...key(1), node: 2, state: WAITING } as Job)
  expect(ask(1)).toEqual({ state: 'completed', output: '1' })
})

test('questions of a turn share a read, which holds until the turn ends', () => {
  row(1, COMPLETED, { output: '1' })
  row(2, WAITING)
  live.set(3, { ...key(3), state: WAITING } as Job)
  watches.readTogether(store, live, [1, 2, 3, 4].map(key))
  expect([ask(1), ask(2), ask(3)]).toEqual([{ state: 'completed', output: '1' }, DEFERRED, DEFERRED])
  expect(reads).toEqual([[1, 2, 4]])
  expect(ask(4)).toBeInstanceOf(Refused)
  watches.forgetRows()
  row(1, COMPLETED, { output: 'later' })
  expect(ask(1)).toEqual({ state: 'completed', output: 'later' })
})

test('all who asked are told once, when it becomes final; bystanders are not', () => {
  for (const seq of [1, 2]) row(seq, WAITING)
  expect([ask(1, 1, 10), ask(1, 2, 20), ask(2, 1, 11)]).toEqual([DEFERRED, DEFERRED, DEFERRED])
  settle({ ...key(1), state: COMPLETED, output: '7' }, { ...key(9), state: CANCELLED })
  settle({ ...key(1), state: COMPLETED, output: '7' })
  expect(told).toEqual([
    [1, { id: 10, value: { state: 'completed', output: '7' } }],
    [2, { id: 20, value: { state: 'completed', output: '7' } }],
  ])
})

test('of a failure the error of its last run is told; of a job that was deleted, that', () => {
  for (const seq of [1, 2]) row(seq, WAITING)
  ask(1)
  ask(2)
  const effects = new Effects()
  const error = { name: 'TypeError', message: 'last' }
  effects.settled.push({ ...key(1), state: FAILED, run: 4, uncounted: 1 } as Job, { ...key(2), state: WAITING } as Job)
  effects.runs.push({ seq: 1, run: 4, attempt: 3, startedAt: 0, endedAt: 0, worker: '', error })
  watches.settle(effects, post)
  expect(told.map(([, reply]) => reply.value)).toEqual([{ state: 'failed', error, attempt: 3 }, { state: 'deleted' }])
})

test('forgotten: one question, or all of a connection', () => {
  for (const seq of [1, 2]) row(seq, WAITING)
  ask(1, 1, 10)
  ask(1, 1, 11)
  ask(1, 2, 20)
  ask(2, 2, 21)
  watches.forget(1, 10)
  watches.forget(2)
  settle({ ...key(1), state: CANCELLED }, { ...key(2), state: CANCELLED })
  expect(told).toEqual([[1, { id: 11, value: { state: 'cancelled' } }]])
})

test('after a reload: what has become final is told, what is gone is deleted, the rest is still waited for', () => {
  for (const seq of [1, 2, 3]) row(seq, WAITING)
  for (const seq of [1, 2, 3]) ask(seq)
  row(1, COMPLETED, { output: '1' })
  rows.delete(2)
  watches.recheck(store, live, post)
  expect(told).toEqual([
    [1, { id: 1, value: { state: 'completed', output: '1' } }],
    [1, { id: 2, value: { state: 'deleted' } }],
  ])
  watches.recheck(store, live, post)
  settle({ ...key(3), state: CANCELLED })
  expect(told).toHaveLength(3)
})

test('giving one up takes no longer where many others wait', () => {
  const msOf = (waits: number): number => {
    const crowd = new ResultWaiters()
    for (let seq = 1; seq <= waits; seq++) {
      row(seq, WAITING)
      crowd.ask(store, live, key(seq), { connection: 1, request: seq })
    }
    // Another job with as many waits as all others together.
    for (let request = 1; request <= waits; request++) crowd.ask(store, live, key(1), { connection: 2, request })
    const start = performance.now()
    for (let request = 1; request <= waits; request++) {
      crowd.forget(1, request)
      crowd.forget(2, request)
    }
    const ms = performance.now() - start
    expect(crowd.waiting.size).toBe(0)
    return ms
  }
  msOf(500)
  // In proportion to their number: 8 times as long, some milliseconds. In proportion to its square: 64 times, some seconds.
  expect(msOf(4_000)).toBeLessThan(24 * Math.max(msOf(500), 20))
})
