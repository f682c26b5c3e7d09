/** What the engine refuses ends the run, and the durable call never settles. */
import { BusyError, CodecError, OptionRangeError, StaleRunError } from '@millrace/core'
import { expect, test } from 'vitest'
import { defineJob } from '../define.ts'
import { quiet } from '../testing/manualClock.ts'
import { workbench } from '../testing/workbench.ts'

const job = defineJob({ name: 'a' })

function stepping() {
  const seen: unknown[] = []
  const bench = workbench(job.handler(({ step }) => step('pay', () => seen.push('called')).finally(() => seen.push('settled'))))
  return { bench, seen }
}

test.for<readonly [what: string, refusal: Error, outcome: object]>([
  ['too many results: the job fails permanently', new OptionRangeError('step', 10_000, 'too many'), { op: 'fail', retry: false }],
  ['a run that is over', new StaleRunError('gone'), { op: 'fail', error: { name: 'StaleRunError' } }],
])('%s', async ([, refusal, outcome]) => {
  const { bench, seen } = stepping()
  bench.calls.answer('step', () => refusal)
  if (refusal instanceof StaleRunError) bench.calls.answer('fail', () => refusal)
  bench.grant()
  await quiet()
  await quiet()
  expect(bench.calls.outcomes).toMatchObject([outcome])
  expect([seen, bench.worker.running]).toEqual([['called'], 0])
})

test('a result whose answer is open is sent again, and its function is not called again', async () => {
  const { bench, seen } = stepping()
  let refused = 0
  bench.calls.answer('step', () => (refused++ === 0 ? new BusyError('busy') : true))
  bench.grant()
  await bench.clock.advance(1_000)
  await quiet()
  expect(bench.calls.of('step')).toHaveLength(2)
  expect(seen).toEqual(['called', 'settled'])
  expect(bench.calls.outcomes).toMatchObject([{ op: 'complete' }])
})

test('a result that the codec cannot take is the failure of its step, whose function is not called again', async () => {
  const seen: unknown[] = []
  const bench = workbench(job.handler(({ step }) => step('pay', () => seen.push('called')).catch((error) => seen.push(error.name))))
  let asked = 0
  bench.calls.answer('step', () => (asked++ === 0 ? new CodecError('too large') : true))
  bench.grant()
  await quiet()
  await quiet()
  expect(bench.calls.of('step')).toMatchObject([{ value: '1' }, { value: null, error: { name: 'CodecError' } }])
  expect(seen).toEqual(['called', 'StepFailedError'])
})

test('what a step throws may throw again as it is read: the run fails', async () => {
  const broken = Object.defineProperty(new Error('x'), 'name', {
    get() {
      throw new Error('gotcha')
    },
  })
  const bench = workbench(
    job.handler(({ step }) =>
      step('pay', () => {
        throw broken
      }),
    ),
  )
  bench.grant()
  await quiet()
  await quiet()
  expect(bench.calls.outcomes).toMatchObject([{ op: 'fail' }])
})
