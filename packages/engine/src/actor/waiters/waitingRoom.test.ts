// Who waits, gives up or goes away leaves nothing behind: each kind of waiting, a thousand times.
import { DEFERRED, type EventsCommand, type Reply, WAITING } from '@millrace/core'
import { type JobRow, newCounts, type Store, type Tables } from '@millrace/core/kernel'
import { expect, test } from 'vitest'
import { growth } from '../../../../testkit/src/testing/growth.ts'
import { DrainWaiters } from './drains.ts'
import { EventWaiters } from './events.ts'
import { ExportWaiters } from './exports.ts'
import { ResultWaiters } from './results.ts'
import { WaitingRoom } from './waitingRoom.ts'

const key = (seq: number) => ({ seq, node: 1, enqueuedAt: 5 })
const store = {
  sourced: () => [],
  jobs: ([seq = 0]: readonly number[]) => [{ ...key(seq), state: WAITING } as JobRow],
  events: () => [],
  ends: () => ({ ends: [] }),
  attempts: () => [],
} as unknown as Store
const EVENTS: EventsCommand = { op: 'events', after: 0, filter: {} }

/** Of one queue with a waiting job, which is drained or not. */
function tablesOf(waiting: number): Tables {
  const counts = newCounts()
  counts[WAITING] = waiting
  const queues = new Map([['q', { counts, settings: { draining: true } }]])
  return { queues, exports: new Map([['x', 0]]), nextEvent: 1 } as unknown as Tables
}

const crowd = () => ({
  watches: new ResultWaiters(),
  followers: new EventWaiters(),
  exporters: new ExportWaiters(),
  drains: new DrainWaiters(),
})
type Crowd = ReturnType<typeof crowd>

const sizesOf = (all: Crowd) => Object.fromEntries(Object.entries(all).map(([name, { waiting }]) => [name, waiting.size]))
const watchedOf = (all: Crowd) => ({
  sizes: Object.fromEntries(Object.entries(all).map(([name, { waiting }]) => [name, () => waiting.size])),
})

function ask({ watches, followers, exporters, drains }: Crowd, connection: number, request: number): void {
  const sender = (place: number) => ({ connection, request: 4 * request + place })
  expect([
    watches.ask(store, new Map(), key(request), sender(0)),
    followers.ask(store, 0, EVENTS, sender(1)),
    exporters.ask(store, tablesOf(1), { op: 'export', name: 'x', limit: 1 }, sender(2)),
    drains.ask(tablesOf(1), 'q', sender(3)),
  ]).toEqual([DEFERRED, DEFERRED, DEFERRED, DEFERRED])
}

test.each<[string, (all: Crowd, round: number) => void]>([
  ['gives up', (all, round) => Object.values(all).forEach((waiting, place) => void waiting.forget(1, 4 * round + place))],
  ['goes away', (all) => Object.values(all).forEach((waiting) => void waiting.forget(1))],
])('who %s is forgotten, and a bystander is not', async (_, forget) => {
  const all = crowd()
  ask(all, 2, 1)
  const grown = await growth(watchedOf(all), (round) => {
    ask(all, 1, round)
    forget(all, round)
  })
  expect(grown).toEqual({})
  expect(sizesOf(all)).toEqual({ watches: 1, followers: 1, exporters: 1, drains: 1 })
})

test('a queue that is drained answers all who wait for it, once', async () => {
  const { drains } = crowd()
  const told: Reply[] = []
  const grown = await growth({ sizes: { drains: () => drains.waiting.size } }, (round) => {
    drains.ask(tablesOf(1), 'q', { connection: round % 3, request: round })
    drains.settle(tablesOf(0), (_, reply) => void told.push(reply))
  })
  expect(grown).toEqual({})
  expect(told.map(({ id }) => id)).toEqual(Array.from({ length: told.length }, (_, round) => round))
})

test('one of many is taken by who asked, whatever else waits', () => {
  const waiting = new WaitingRoom<{ readonly connection: number; readonly request: number }>()
  for (const connection of [1, 2]) for (const request of [1, 2]) waiting.add({ connection, request })
  expect(waiting.take(1, 2)).toEqual([{ connection: 1, request: 2 }])
  expect(waiting.take(1, 2)).toEqual([])
  expect(waiting.take(3)).toEqual([])
  expect(waiting.take(2)).toHaveLength(2)
  expect([...waiting]).toEqual([{ connection: 1, request: 1 }])
  expect([waiting.size, waiting.takeAll().length, waiting.size]).toEqual([1, 1, 0])
})
