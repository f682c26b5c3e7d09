import { expect, test } from 'vitest'
import { Recent } from './recent.ts'

const MINUTE = 60_000
const START = Date.UTC(2025, 10, 23)

test('counts the last 15 minutes, and forgets each minute as it leaves', () => {
  const recent = new Recent()
  for (let minute = 0; minute < 40; minute++) {
    const wall = START + minute * MINUTE
    recent.note('retried', wall)
    recent.note('failed', wall + 1)
    recent.note('completed', wall + 2)
    const minutes = Math.min(16, minute + 1)
    const counts = { runs: 3 * minutes, failed: 2 * minutes, failedJobs: minutes, streak: 0, lastAt: wall + 1 }
    expect(recent.failing(wall + 2)).toEqual(minute < 4 ? undefined : { ...counts, firstAt: START + 4 * MINUTE + 1 })
  }
  expect(recent.failing(START + 48 * MINUTE)).toMatchObject({ failed: 2 * 7 })
  expect(recent.failing(START + 49 * MINUTE + 1)).toBeUndefined()
})

test('three failed runs in a row are enough, at any rate', () => {
  const recent = new Recent()
  recent.note('failed', START)
  recent.note('failed', START + 40 * MINUTE)
  expect(recent.failing(START + 40 * MINUTE)).toBeUndefined()
  recent.note('failed', START + 80 * MINUTE)
  expect(recent.failing(START + 139 * MINUTE)).toMatchObject({ streak: 3, runs: 0, firstAt: START })
  expect(recent.failing(START + 140 * MINUTE)).toBeUndefined()
  recent.note('completed', START + 141 * MINUTE)
  recent.note('failed', START + 142 * MINUTE)
  expect(recent.failing(START + 142 * MINUTE)).toBeUndefined()
})

/** `F`: a run that failed; `c`: one that completed; `.`: a minute that passes. */
test.each<[what: string, runs: string, since: number]>([
  ['since the first of its last runs in a row', '.F..F.F', 1],
  ['on while a run completes now and then', 'FFF.cFFF.cFFF', 0],
  ['on after a silence that its counts outlast', `${'Fc'.repeat(10)}${'.'.repeat(12)}${'Fc'.repeat(10)}`, 0],
  ['anew after a silence that its counts do not outlast', `${'Fc'.repeat(10)}${'.'.repeat(16)}${'Fc'.repeat(10)}`, 16],
  ['anew behind failures that were too few', `FFFc${`${'.'.repeat(8)}Fc`.repeat(6)}${'.'.repeat(8)}FFF`, 56],
  ['from the run that makes it too many, if others complete', `${'Fc'.repeat(6)}..${'Fc'.repeat(6)}`, 2],
])('it fails %s: %s', (_what, runs, since) => {
  const recent = new Recent()
  let wall = START
  for (const each of runs) {
    if (each === '.') wall += MINUTE
    else recent.note(each === 'F' ? 'failed' : 'completed', wall)
  }
  expect(recent.failing(wall)?.firstAt).toBe(START + since * MINUTE)
})

test('a wall clock that went back by a second changes nothing; by more than a minute, the count begins anew', () => {
  const recent = new Recent()
  for (const wall of [START, START - 1_000, START]) recent.note('failed', wall)
  expect(recent.failing(START)).toMatchObject({ runs: 3, failed: 3 })
  recent.note('failed', START + 1e12)
  expect(recent.failing(START + 1e12)).toMatchObject({ runs: 1, streak: 4 })
  expect(recent.failing(START)).toBeUndefined()
})

test('the sums are those of a plain list, at any pace and after any gap', () => {
  const recent = new Recent()
  const noted: [minute: number, end: 'completed' | 'retried' | 'failed'][] = []
  let wall = START
  for (let index = 0; index < 3_000; index++) {
    wall += index % 400 === 399 ? (index % 40) * MINUTE : (index * 7_919) % 20_000
    const end = (['failed', 'retried', 'completed', 'failed'] as const)[index % 4] as 'failed'
    noted.push([Math.floor(wall / MINUTE), end])
    recent.note(end, wall)
    const ends = noted.filter(([minute]) => minute > Math.floor(wall / MINUTE) - 16).map(([, each]) => each)
    const failed = ends.filter((each) => each !== 'completed').length
    const counts = { runs: ends.length, failed, failedJobs: ends.filter((each) => each === 'failed').length }
    if (failed >= 10) expect(recent.failing(wall)).toMatchObject(counts)
  }
})
