import { expect, test } from 'vitest'
import { before, workerOf } from '../../testing/inputs.ts'
import { kindsOf, type WorkerRow, workerRows } from './rows.ts'

test('workers that need a look come first', () => {
  const rows = workerRows([
    workerOf({ id: 'a' }),
    workerOf({ id: 'b', draining: true }),
    workerOf({ id: 'c', away: true }),
    workerOf({ id: 'd', zombies: 1 }),
  ])
  expect(rows.map(({ id }) => id)).toEqual(['d', 'c', 'b', 'a'])
})

test('the sessions of one worker are one row', () => {
  const [row, other] = workerRows([
    workerOf({
      id: 'a',
      names: ['mail'],
      maxConcurrency: 16,
      runningWeight: 3,
      runningJobs: 3,
      attachedAt: before(9_000),
      lastSeenAt: before(5_000),
    }),
    workerOf({ id: 'other', names: ['x'] }),
    workerOf({
      id: 'a',
      names: ['resize', 'mail'],
      queues: ['media'],
      maxConcurrency: 4,
      runningWeight: 4,
      runningJobs: 1,
      zombies: 2,
      lastSeenAt: before(1_000),
    }),
  ])
  expect(row).toMatchObject({ id: 'a', names: ['mail', 'resize'], queues: null, sessions: 2, slots: 20, taken: 7, jobs: 4, zombies: 2 })
  expect(row).toMatchObject({ attachedAt: before(9_000), seenAt: before(1_000), isStopping: false })
  expect(other).toMatchObject({ id: 'other', sessions: 1 })
})

test('a worker stops once all of its sessions do', () => {
  const [row] = workerRows([workerOf({ id: 'a', draining: true }), workerOf({ id: 'a' })])
  expect(row?.isStopping).toBe(false)
})

test('a worker has an order of queues if one of its sessions has', () => {
  const rows = workerRows([
    workerOf({ id: 'a', queues: ['urgent', 'low'], order: 'strict' }),
    workerOf({ id: 'b', order: 'fair' }),
    workerOf({ id: 'c' }),
  ])
  expect(rows.map(({ id, isStrict }) => [id, isStrict])).toEqual([
    ['a', true],
    ['b', false],
    ['c', false],
  ])
})

test('a worker is paused once all of its sessions are', () => {
  const rows = workerRows([
    workerOf({ id: 'a', paused: true }),
    workerOf({ id: 'b', paused: true }),
    workerOf({ id: 'b' }),
    workerOf({ id: 'c', paused: false }),
  ])
  expect(rows.map(({ id, isPaused }) => [id, isPaused])).toEqual([
    ['a', true],
    ['b', false],
    ['c', false],
  ])
})

test('a worker says where its handlers run, and is late if something blocks its event loop again and again', () => {
  const report = { version: '1.2.3', rssBytes: 2 ** 27 }
  const [a, b, silent] = workerRows([
    workerOf({ id: 'a', kind: 'inline', eventLoopDelayMs: 199, ...report }),
    workerOf({ id: 'a', kind: 'threads', eventLoopDelayMs: 199, ...report }),
    workerOf({ id: 'b', kind: 'remote', eventLoopDelayMs: 200, ...report }),
    workerOf({ id: 'silent', kind: 'foreign' }),
  ])
  expect(a).toMatchObject({ kinds: ['inline', 'threads'], delayMs: 199, isLate: false, ...report })
  expect(kindsOf(a as WorkerRow)).toBe('in the engine’s process, on a pool of threads')
  expect(b).toMatchObject({ kinds: ['remote'], isLate: true })
  expect(silent).toMatchObject({ kinds: ['foreign'], version: undefined, delayMs: undefined, isLate: false, rssBytes: undefined })
})
