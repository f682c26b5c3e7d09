/** Tests the history of queues, which is computed from rows of totals: its begin, its end and its columns. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import type { HistoryCommand } from '../../observeCommands.ts'
import { newLane, newQueue } from '../records/lane.ts'
import { Effects } from '../state/effects.ts'
import { HOUR_MS, MINUTE_MS, type MinuteRow, type QueueMinutes } from '../state/history.ts'
import { readHistories } from './historyOfQueues.ts'

const T0 = 500_000 * HOUR_MS
const ask = (change: Partial<HistoryCommand> = {}): HistoryCommand => ({
  op: 'history',
  queue: 'default',
  step: 'minute',
  from: 0,
  busiest: 9,
  ...change,
})
const row = (at: number, enqueued: number): MinuteRow => ({ at, totals: { enqueued, completed: 0, failed: 0, cancelled: 0 } })
const queue = (minutes: readonly MinuteRow[], now: number): QueueMinutes => ({ name: 'q', minutes, totals: row(0, now).totals })

function read(command: HistoryCommand, queues: readonly QueueMinutes[], wall = T0 + 90_000) {
  const histories = (_span: unknown, limit: number, visit: (queue: QueueMinutes) => void): number => {
    for (const each of queues.slice(0, limit)) visit(each)
    return queues.length
  }
  return readHistories({ histories }, command, wall, 5)
}

test('the history of queues begins with the minute or hour of `from`, within the time that is kept, and ends with the current one', () => {
  const spanOf = (change: Partial<HistoryCommand>) => {
    const { from, total } = read(ask(change), [])
    return [from, total.enqueued.length]
  }
  expect(spanOf({})).toEqual([T0 + MINUTE_MS - 6 * HOUR_MS, 361])
  expect(spanOf({ step: 'hour' })).toEqual([T0 - 14 * 24 * HOUR_MS, 14 * 24 + 1])
  expect(spanOf({ from: T0 + 5 })).toEqual([T0, 2])
  expect(spanOf({ from: T0, to: T0 + MINUTE_MS + 5 })).toEqual([T0, 1])
  expect(spanOf({ from: T0, to: T0 + HOUR_MS })).toEqual([T0, 2])
  expect(spanOf({ from: T0 + HOUR_MS })).toEqual([T0 + HOUR_MS, 0])
  expect(spanOf({ from: T0, to: 0 })).toEqual([T0, 0])
})

test('a row of totals covers the time up to the next row, which can lie behind the end of the history', () => {
  const told = read(ask({ from: T0, to: T0 + 2 * MINUTE_MS }), [
    queue([row(T0, 3), row(T0 + MINUTE_MS, 5), row(T0 + 9 * MINUTE_MS, 6)], 50),
  ])
  expect(told.total.enqueued).toEqual([2, 1])
  expect(told.queues).toEqual([{ name: 'q', ...told.total }])
  expect(read(ask({ from: T0 }), [queue([row(T0 + MINUTE_MS, 5)], 50)]).total.enqueued).toEqual([0, 45])
})

test('queues beyond the busiest ones are only in the sum, and queues beyond the bound are only counted', () => {
  const told = read(
    ask({ from: T0, busiest: 2 }),
    Array.from({ length: 7 }, () => queue([row(T0, 0)], 1)),
  )
  expect([told.total.enqueued, told.queues.length, told.queuesLeftOut]).toEqual([[5, 0], 2, 2])
  expect(read(ask({ busiest: 0 }), [queue([row(T0, 0)], 1)])).toMatchObject({ queues: [] })
})

test('a column of the history has the number that its queue has counted in each minute, for any counts', () => {
  const counts = fc.array(fc.record({ minute: fc.nat(5), queue: fc.nat(2), enqueued: fc.integer({ min: 1, max: 3 }) }), { maxLength: 20 })
  fc.assert(
    fc.property(counts, (all) => {
      const lanes = [0, 1, 2].map((id) => newLane(id, newQueue(id, `q${id}`), 'a'))
      const minutes: MinuteRow[][] = [[], [], []]
      for (const { minute, queue: id, enqueued } of all.toSorted((one, other) => one.minute - other.minute)) {
        const effects = new Effects(T0 + minute * MINUTE_MS + 7)
        effects.total(lanes[id] as (typeof lanes)[0], 'enqueued', enqueued)
        for (const { at, totals } of effects.minutes) minutes[id]?.push({ at, totals })
      }
      const queues = lanes.map(({ queue: { name, totals } }, id) => ({ name, totals, minutes: minutes[id] as MinuteRow[] }))
      const told = read(ask({ from: T0 }), queues, T0 + 5 * MINUTE_MS)
      const sumOf = (of: typeof all, minute: number) => of.reduce((sum, each) => sum + (each.minute === minute ? each.enqueued : 0), 0)
      const columnOf = (of: typeof all) => Array.from({ length: 6 }, (_, minute) => sumOf(of, minute))
      expect(told.total.enqueued).toEqual(columnOf(all))
      for (const [id, { enqueued }] of told.queues.entries()) expect(enqueued).toEqual(columnOf(all.filter((each) => each.queue === id)))
    }),
    { numRuns: runs(50) },
  )
})
