// What queues have done over time: totals before each minute and each hour, as many as are kept.
import { LIMITS } from '@millrace/core'
import { Effects, HOUR_MS, type LaneTotals, MINUTE_MS, type MinuteRow, minuteOf, type QueueMinutes } from '@millrace/core/kernel'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../testkit/src/testing/runs.ts'
import { openCrowd } from '../testing/crowd.ts'

const T0 = 500_000 * HOUR_MS

test('a minute is one row, the first of its hour another; what is within it writes none, and no other queue has any', () => {
  const { turns, commit } = openCrowd()
  const lane = turns.lane('work')
  const written = (at: number): string[] => {
    turns.at = at
    turns.effects = new Effects(at)
    turns.insert({ lane })
    turns.insert({ lane })
    return commit().come.filter((row) => row.startsWith('history'))
  }
  expect(written(T0 + 5)).toHaveLength(2)
  expect(written(T0 + 59_999)).toEqual([])
  expect(written(T0 + MINUTE_MS)).toHaveLength(1)
  expect(written(T0 + HOUR_MS)).toHaveLength(2)
  const { queue } = lane
  const total = (enqueued: number) => expect.objectContaining({ enqueued })
  const before = queue.totals.enqueued - 8
  expect(turns.store.minutes(queue.id, 'minute', 0)).toEqual([
    { at: T0, totals: total(before) },
    { at: T0 + MINUTE_MS, totals: total(before + 4) },
    { at: T0 + HOUR_MS, totals: total(before + 6) },
  ])
  expect(turns.store.minutes(queue.id, 'hour', T0 + 1)).toEqual([{ at: T0 + HOUR_MS, totals: total(before + 6) }])
  expect(turns.store.load().minutes).toContainEqual({ queueId: queue.id, at: T0 + HOUR_MS })
})

/** How far the clock goes before each turn: mostly on, sometimes back, sometimes for days. */
const steps = fc.array(
  fc.record({
    ms: fc.oneof(fc.nat(90_000), fc.integer({ min: -3 * HOUR_MS, max: 8 * HOUR_MS }), fc.nat(20 * 24 * HOUR_MS)),
    jobs: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: 1, maxLength: 40 },
)

test('whatever the clock does: what is kept is bounded, in order, and adds up to what was counted', () => {
  const crowd = openCrowd()
  const { turns, store } = crowd
  let queues = 0
  fc.assert(
    fc.property(steps, (all) => {
      const lane = turns.lane('work', `queue-${queues++}`)
      const { queue } = lane
      let at = T0
      /** What each minute has counted, where no clock went back. */
      const counted = new Map<number, number>()
      let forward = true
      for (const { ms, jobs } of all) {
        if (ms < 0) forward = false
        at += ms
        turns.at = at
        turns.effects = Object.assign(new Effects(at), { newLanes: turns.effects.newLanes })
        for (let index = 0; index < jobs; index++) turns.insert({ lane })
        counted.set(minuteOf(at), (counted.get(minuteOf(at)) ?? 0) + jobs)
        turns.commit()
        expect(store.load().minutes.find(({ queueId }) => queueId === queue.id)?.at).toBe(queue.minuteAt)
        for (const [step, keptMs, unit] of [
          ['minute', LIMITS.historyMinutesMs, MINUTE_MS],
          ['hour', LIMITS.historyHoursMs, HOUR_MS],
        ] as const) {
          const rows = store.minutes(queue.id, step, 0)
          expect(rows.length).toBeLessThanOrEqual(keptMs / unit + 1)
          const totals: LaneTotals[] = [...rows.map((row) => row.totals), queue.totals]
          for (const [index, row] of rows.entries()) {
            expect(row.at % unit).toBe(0)
            expect(row.at).toBeGreaterThan(rows[index - 1]?.at ?? 0)
            expect(row.at).toBeLessThanOrEqual(at)
            const told = (totals[index + 1] as LaneTotals).enqueued - row.totals.enqueued
            const within = [...counted].filter(([minute]) => minute >= row.at && minute < row.at + unit)
            if (forward) expect(told).toBe(within.reduce((sum, [, count]) => sum + count, 0))
            else expect(told).toBeGreaterThanOrEqual(0)
          }
          const [from, to] = [at - (at % unit) - keptMs / 2, at - (at % unit) + unit]
          const seen: QueueMinutes[] = []
          store.histories({ step, from, to }, 1_000, (each) => seen.push(each))
          const own = seen.filter(({ name }) => name === queue.name)
          expect(own).toEqual([{ name: queue.name, minutes: store.minutes(queue.id, step, from), totals: queue.totals }])
          // The busiest first.
          const sumOf = ({ enqueued, completed, failed, cancelled }: LaneTotals) => enqueued + completed + failed + cancelled
          const counts = seen.map(({ minutes, totals }) => {
            const behind = minutes.find((minute) => minute.at >= to)?.totals ?? totals
            return sumOf(behind) - sumOf((minutes[0] as MinuteRow).totals)
          })
          expect(counts).toEqual(counts.toSorted((one, other) => other - one))
        }
      }
    }),
    { numRuns: runs(30) },
  )
})
