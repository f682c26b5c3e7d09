import { expect, test } from 'vitest'
import { before, workerOf } from '../../testing/evidence.ts'
import { workerRows } from './rows.ts'

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
