import { newJobFrom } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { faultOf } from './handlers.ts'
import { KINDS, kindNamed, WORKERS } from './kinds.ts'
import { randomOf } from './random.ts'
import { jobsPerMinute } from './shop.ts'
import { tickOf } from './stream.ts'

const ticks = (seed: number, count: number, rate?: number) => Array.from({ length: count }, (_, tick) => tickOf(seed, tick, rate))

test('the same seed is the same stream, and another seed another one', () => {
  expect(ticks(7, 200)).toEqual(ticks(7, 200))
  expect(ticks(7, 200)).not.toEqual(ticks(8, 200))
})

test('over whole waves there are as many jobs as are announced, of every kind', () => {
  const minutes = 40
  const jobs = ticks(1, minutes * 120).flatMap((tick) => tick.jobs)
  expect(Math.abs(jobs.length / minutes / jobsPerMinute(1) - 1)).toBeLessThan(0.05)
  const named = new Set(jobs.map(({ job }) => job))
  expect(KINDS.filter(({ name, perMinute }) => perMinute > 0 && !named.has(name))).toEqual([])
})

test('a rate multiplies the jobs', () => {
  const count = (rate: number) => ticks(1, 2_400, rate).reduce((sum, { jobs }) => sum + jobs.length, 0)
  expect(Math.abs(count(10) / count(1) - 10)).toBeLessThan(0.5)
})

test('every job has options that an engine takes, and its flows name steps that come before', () => {
  for (const { jobs, flow = [] } of ticks(3, 600)) {
    for (const { job, options } of [...jobs, ...flow])
      expect(newJobFrom(job, null, options, undefined)).toMatchObject({ queue: kindNamed(job).queue })
    const known = new Set<string>()
    for (const { ref, dependsOn } of flow) {
      expect(dependsOn.filter((before) => !known.has(before))).toEqual([])
      known.add(ref)
    }
  }
})

test('every kind but one has its worker', () => {
  expect(KINDS.filter(({ worker }) => worker === undefined || WORKERS[worker] === undefined).map(({ name }) => name)).toEqual([
    'rebuild-synonyms',
  ])
})

describe('faults', () => {
  const kind = kindNamed('charge-card')

  test('are as frequent as the kind says', () => {
    const random = randomOf(1, 'faults')
    const found = Array.from({ length: 10_000 }, () => faultOf(kind, {}, random())?.name)
    for (const { name, share } of kind.faults ?? [])
      expect(Math.abs(found.filter((other) => other === name).length / 10_000 - share)).toBeLessThan(0.01)
  })

  test('come always if the data says so, and never if there are none', () => {
    expect(faultOf({}, { fail: true }, 0.99)?.message).toBe('failed on purpose, as its data says')
    expect(faultOf({}, {}, 0)).toBeUndefined()
  })
})
