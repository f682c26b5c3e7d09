// A constraint or a bug is one command's fault: it alone is refused, and those beside it in the turn succeed.
import { defineJob, InternalError } from '@millrace/engine'
import { type Fault, quiet } from '@millrace/testkit/internal'
import { expect, test } from 'vitest'
import { gate } from '../gate.ts'
import { startFaulty } from './faulty.ts'

const a = defineJob({ name: 'a' })
const FOREVER = { times: Number.POSITIVE_INFINITY }
const statementFailsFor = (data: string): Fault => ({ kind: 'statement', culprit: ({ jobs }) => jobs.some((job) => job.data === data) })

test('4: the culprit gets InternalError, bystanders in the same turn succeed, in order', async () => {
  const { probe, faults, expectTablesAsStored } = startFaulty()
  await probe.attach(['a'])
  const running = await probe.enqueue('a')
  await probe.grants.take()
  faults.fail(statementFailsFor('"culprit"'), FOREVER)
  const replies = await probe.settle([
    { op: 'enqueue', jobs: [{ name: 'b', data: '1' }] },
    { op: 'enqueue', jobs: [{ name: 'b', data: '"culprit"' }] },
    { op: 'complete', seq: running.seq, run: 1, output: '"done"' },
    { op: 'enqueue', jobs: [{ name: 'b', data: '2' }] },
    { op: 'stats' },
  ])
  expect(replies.map(({ refusal }) => refusal?.code)).toEqual([undefined, 'INTERNAL', undefined, undefined, undefined])
  expect(replies[1]?.refusal?.message).toMatch(/SQLITE_CONSTRAINT_CHECK/)
  expect(replies[4]?.value).toMatchObject({ states: { waiting: 2, completed: 1 } })
  const [first, second] = (await probe.call<'list'>({ op: 'list', filter: { name: 'b' }, limit: 10 })).jobs
  expect([first?.data, second?.data]).toEqual(['2', '1'])
  await expectTablesAsStored()
})

test('the caller of the culprit gets an InternalError, which it is no use to repeat', async () => {
  const { engine, faults } = startFaulty()
  faults.fail(statementFailsFor('"culprit"'), FOREVER)
  const [culprit, bystander] = await Promise.allSettled([engine.enqueue(a, 'culprit'), engine.enqueue(a, 'bystander')])
  expect(culprit.status === 'rejected' && culprit.reason).toBeInstanceOf(InternalError)
  expect(culprit).toMatchObject({ reason: { code: 'INTERNAL', retryable: false } })
  expect(bystander.status).toBe('fulfilled')
})

test.each([
  ['unfit', 'VALIDATION', 'ValidationError', /cannot keep a value of the call \(22P05: .*\): change it/],
  ['large', 'TOO_LARGE', 'TooLargeError', /exceeds a limit of the store \(SQLITE_TOOBIG: .*\): make it smaller/],
] as const)('a value that the store cannot keep (%s) is refused as %s, not as a bug', async (kind, code, name, message) => {
  const { engine, faults, expectTablesAsStored } = startFaulty()
  faults.fail({ kind, culprit: ({ jobs }) => jobs.some((job) => job.data === '"culprit"') }, FOREVER)
  const [culprit, bystander] = await Promise.allSettled([engine.enqueue(a, 'culprit'), engine.enqueue(a, 'bystander')])
  expect(culprit).toMatchObject({ reason: { code, name, retryable: false, message: expect.stringMatching(message) } })
  expect(bystander.status).toBe('fulfilled')
  await expectTablesAsStored()
})

test('a completion whose children cannot be written is how the run failed, and its worker goes on', async () => {
  const { engine, faults, expectTablesAsStored } = startFaulty()
  faults.fail(statementFailsFor('"culprit"'), FOREVER)
  let runs = 0
  engine.work([
    a.handler(({ data, enqueue }) => {
      runs++
      if (data === 'bad') enqueue('child', 'culprit')
    }),
  ])
  const bad = await engine.enqueue(a, 'bad', { maxAttempts: 1 })
  const good = await engine.enqueue(a, 'good')
  await good.result()
  await expect(bad.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { name: 'InternalError' } })
  expect(runs).toBe(2)
  expect((await engine.stats()).queues['default']).toMatchObject({ completed: 1, failed: 1, waiting: 0 })
  await expectTablesAsStored()
})

test('workers hold what they run through the fault of another call', async () => {
  const { engine, faults, advance } = startFaulty()
  const held = gate()
  engine.work([a.handler(held.wait)])
  const handle = await engine.enqueue(a)
  await quiet()
  faults.fail(statementFailsFor('"culprit"'), FOREVER)
  await expect(engine.enqueue('b', 'culprit')).rejects.toThrow(InternalError)
  await advance('1s')
  held.open()
  await handle.result()
  expect([held.runs, (await engine.get(handle.id))?.run]).toEqual([1, 1])
})

test('one by one, a command that meets a lock keeps its place before those after it', async () => {
  const { probe, faults, advance, expectTablesAsStored } = startFaulty()
  // The whole turn fails for its culprit; decided alone, the first command meets a lock, and later another.
  faults.failInOrder(statementFailsFor('"culprit"'), { kind: 'busy' }, { kind: 'busy' })
  const replies = probe.settle([
    { op: 'enqueue', jobs: [{ name: 'a', data: '1' }] },
    { op: 'enqueue', jobs: [{ name: 'a', data: '"culprit"' }] },
    { op: 'enqueue', jobs: [{ name: 'a', data: '3' }] },
  ])
  await advance('1s')
  expect((await replies).map(({ refusal }) => refusal?.code)).toEqual([undefined, undefined, undefined])
  expect(probe.replied).toEqual([1, 2, 3])
  const { jobs } = await probe.call<'list'>({ op: 'list', filter: {}, limit: 10 })
  expect(jobs.map((job) => job.data)).toEqual(['3', '"culprit"', '1'])
  await expectTablesAsStored()
})
