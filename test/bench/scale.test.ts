// The model of many owners: what must hold of it whatever the constants are.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Constants } from '../../bench/src/scale/measure.ts'
import { simulate, takeoverMs, type World } from '../../bench/src/scale/model.ts'
import { seededRandom } from '../../packages/testkit/src/clock.ts'
import { runs } from '../../packages/testkit/src/testing/runs.ts'

const CONSTANTS: Constants = {
  ...{ ownerTurn: 200, serverTurn: 100, ownerJob: 30, serverJob: 10, socketJob: 5, inboxOwner: 20, inboxServer: 20 },
  ...{ ownerStart: 200_000, jobsPerSecond: 0, takeoverMs: { p50: 0, most: 0 }, vanishedMs: { p50: 0, most: 0 }, syncMs: 1 },
}

const WORLD: World = {
  ...{ owners: 1, machines: 1, cores: 8, servers: 1, serverCores: 32, inFlight: 500, rate: undefined, sockets: false },
  ...{ constants: CONSTANTS, seconds: 5 },
}

test('one owner does as many jobs as its turns take', () => {
  // 500 in flight, half of them in each of two turns that follow one another: 1 ms for the disk, and the rest is processor time.
  const turnMs = (200 + 100 + 500 * (15 + 5)) / 1_000 + 1
  const { jobsPerSecond, p50 } = simulate(WORLD, seededRandom(1))
  expect(jobsPerSecond).toBeCloseTo(500 / ((2 * turnMs) / 1_000), -3)
  expect(p50).toBeCloseTo(2 * turnMs, 0)
})

test('owners do not disturb each other while there are processors, and share them when there are not', () => {
  const one = simulate(WORLD, seededRandom(1)).jobsPerSecond
  const four = simulate({ ...WORLD, owners: 4, servers: 4 }, seededRandom(1))
  expect(four.jobsPerSecond / one).toBeCloseTo(4, 1)
  const crowded = simulate({ ...WORLD, owners: 64, servers: 64 }, seededRandom(1))
  expect(crowded.machineLoad).toBeGreaterThan(0.95)
  expect(crowded.jobsPerSecond).toBeLessThan(8 / (30 / 1_000_000))
  const shared = simulate({ ...WORLD, owners: 512, machines: 512 }, seededRandom(1))
  expect(shared.serverLoad).toBeGreaterThan(0.95)
})

test('jobs that come at a rate are done at that rate, and no sooner than two turns later', () => {
  const world = fc.record({ owners: fc.integer({ min: 1, max: 20 }), rate: fc.integer({ min: 1, max: 200 }), seed: fc.nat() })
  fc.assert(
    fc.property(world, ({ owners, rate, seed }) => {
      const { jobsPerSecond, p50, p99 } = simulate({ ...WORLD, owners, rate, machines: 4, seconds: 20 }, seededRandom(seed))
      const expected = owners * rate
      expect(Math.abs(jobsPerSecond - expected)).toBeLessThan(1 + 5 * Math.sqrt(expected / 20))
      expect(p50).toBeGreaterThan(2 * (1 + 0.3))
      expect(p99).toBeGreaterThanOrEqual(p50)
    }),
    { numRuns: runs(40) },
  )
})

test('the last schema of a lost machine waits for those before it, and a machine that vanishes for the server', () => {
  const start = { startMs: 200, pauseMs: 150, silenceMs: 10_000 }
  const few = { owners: 10, machines: 10, cores: 8 }
  expect(takeoverMs(few, start, 'killed')).toBe(350)
  expect(takeoverMs(few, start, 'vanished')).toBe(10_350)
  // 100 orphans on 72 processors.
  expect(takeoverMs({ ...few, owners: 1_000 }, start, 'killed')).toBe(550)
})
