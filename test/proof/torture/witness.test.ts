// Those that look for harm see it: each check is shown what it is there to find.
import { openEngine } from '@millrace/engine'
import { expect, test } from 'vitest'
import { tamper } from '../../../packages/sqlite/src/testing/inspect.ts'
import { temporaryFile } from '../../temporary.ts'
import { growthOfSecondHalf, type Sample } from './memory.ts'
import { Tally } from './scenario.ts'
import { Witness } from './witness.ts'

const NOBODY = '01890000-0000-7000-8000-000000000001'

async function fileWithOneJob() {
  const file = temporaryFile()
  const engine = await openEngine({ file })
  const { id } = await engine.enqueue('a')
  await engine.stop()
  return { file, id }
}

function violationsOf(file: string, lines: readonly string[], { drained = false } = {}): Tally {
  const witness = new Witness()
  const tally = new Tally()
  witness.take(lines)
  witness.audit(file, tally, { drained })
  return tally
}

test('what is as it was acknowledged is no violation', async () => {
  const { file, id } = await fileWithOneJob()
  expect(violationsOf(file, [`enqueued ${id}`])).toMatchObject({ lost: 0, violations: [] })
})

test('an acknowledged job that is not there is lost, and so is an end that was acknowledged', async () => {
  const { file, id } = await fileWithOneJob()
  const { lost, violations } = violationsOf(file, [`enqueued ${NOBODY}`, `completed ${id}`])
  expect(lost).toBe(2)
  expect(violations).toEqual([`1: job ${NOBODY} was acknowledged, and is not there`, `2: job ${id} was completed, and is waiting`])
})

test('a run that begins while another of the job goes on is seen, and one after the other is not', async () => {
  const { file } = await fileWithOneJob()
  expect(violationsOf(file, ['run x 1 1', 'run x 2 2']).violations).toEqual(['9: run 2 of job x has begun while run 1 went on'])
  expect(violationsOf(file, ['run x 1 1', 'ended x 1', 'run x 2 2', 'ended x 2']).violations).toEqual([])
})

test('a run that was cut off is none that goes on in the next process', () => {
  const witness = new Witness()
  witness.take(['run x 1 1'])
  witness.take(['run x 2 2', 'ended x 2'])
  expect([witness.cutOff, witness.history.violations]).toEqual([1, []])
})

test('a run that the file knows nothing of, a job that is left, and counters that are not the rows are seen', async () => {
  const { file, id } = await fileWithOneJob()
  expect(violationsOf(file, [`run ${id} 3 1`]).violations).toEqual([`10: job ${id} has run 3, and the file knows of 0`])
  expect(violationsOf(file, [], { drained: true }).violations).toEqual(['20: job 1 is still waiting'])
  tamper(file, 'UPDATE lane SET waiting = 2')
  expect(violationsOf(file, []).violations).toEqual(['7: lane a: 2 waiting, but 1 rows'])
})

test('memory that grows with the work is told from memory that swings', () => {
  const samples = (rss: (index: number) => number): Sample[] =>
    Array.from({ length: 41 }, (_, index) => ({ at: index / 40, rssMib: rss(index), heapMib: 0, writerHeapMib: 0, outsideMib: 0 }))
  const rise = (rss: (index: number) => number) => growthOfSecondHalf(samples(rss), ({ rssMib }) => rssMib)
  expect(rise((index) => 100 + 2 * index)).toBeGreaterThan(30)
  expect(Math.abs(rise((index) => 100 + (index % 5) * 30))).toBeLessThan(5)
  // Whatever happens at first.
  expect(rise((index) => Math.min(index, 20) * 10)).toBeCloseTo(0)
})
