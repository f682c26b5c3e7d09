// Another program holds the file's write lock: what was asked waits for some turns, in order, and is then refused.
import { defineJob, StorageBusyError } from '@millrace/engine'
import { quiet } from '@millrace/testkit/internal'
import { expect, test } from 'vitest'
import { gate } from '../gate.ts'
import { startFaulty } from './faulty.ts'

const a = defineJob({ name: 'a' })
const FOREVER = { times: Number.POSITIVE_INFINITY }

test('a lock that is let go within 5 s is not noticed, but for the wait', async () => {
  const { probe, faults, advance, expectTablesAsStored } = startFaulty()
  await probe.attach(['a'])
  faults.fail({ kind: 'busy' }, FOREVER)
  const replies = probe.settle([
    { op: 'enqueue', jobs: [{ name: 'a', data: '1' }] },
    { op: 'enqueue', jobs: [{ name: 'a', data: '2' }] },
    { op: 'stats' },
  ])
  await advance('2s')
  const later = probe.settle([{ op: 'enqueue', jobs: [{ name: 'a', data: '3' }] }])
  await advance('2s')
  expect([probe.replied.length, probe.grants.size]).toEqual([1, 0])
  faults.heal()
  await advance('25ms')
  expect([...(await replies), ...(await later)].map(({ refusal }) => refusal)).toEqual([undefined, undefined, undefined, undefined])
  expect(probe.replied).toEqual([1, 2, 3, 4, 5])
  expect((await probe.call<'stats'>({ op: 'stats' })).totals.enqueued).toBe(3)
  await expectTablesAsStored()
})

test('after 5 s it is refused with StorageBusyError, and nothing of it happened', async () => {
  const { engine, faults, advance, store, expectTablesAsStored } = startFaulty()
  await engine.enqueue(a)
  faults.fail({ kind: 'busy' }, FOREVER)
  const refused = Promise.allSettled([engine.enqueue(a), engine.enqueue(a, 1, { idempotencyKey: 'k' })])
  await advance('6s')
  for (const result of await refused) {
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_BUSY', retryable: true } })
    expect((result as PromiseRejectedResult).reason).toBeInstanceOf(StorageBusyError)
    expect((result as PromiseRejectedResult).reason.message).toMatch(/5000 ms/)
  }
  expect(store.load().nextSeq).toBe(2)
  faults.heal()
  expect((await engine.enqueue(a, 1, { idempotencyKey: 'k' })).created).toBe(true)
  await expectTablesAsStored()
})

test('busy-never-reaches-heartbeat: a run goes on through a long lock, and completes once', async () => {
  const { engine, faults, advance, expectTablesAsStored } = startFaulty()
  const held = gate()
  engine.work([a.handler(held.wait)])
  const handle = await engine.enqueue(a)
  await quiet()
  faults.fail({ kind: 'busy' }, FOREVER)
  held.open()
  await advance('20s')
  faults.heal()
  await advance('1s')
  await handle.result()
  expect([held.runs, (await engine.get(handle.id))?.attempt]).toEqual([1, 1])
  await expectTablesAsStored()
})

test('a turn that nobody asked for waits for the lock too, without a hot loop', async () => {
  const { probe, faults, advance } = startFaulty()
  await probe.attach(['a'])
  await probe.enqueue('a', { delay: 1_000 })
  faults.fail({ kind: 'busy' }, FOREVER)
  const { writes } = faults
  await advance('11s')
  expect(faults.writes - writes).toBeLessThan(1_000)
  faults.heal()
  await advance('1s')
  await probe.attach(['a'])
  expect(await probe.grants.take()).toMatchObject({ run: 1 })
})

test('workers that are asked to attach again do so once, not once per retry', async () => {
  const { engine, inThread, faults, advance } = startFaulty()
  for (let worker = 0; worker < 5; worker++) engine.work([a.handler(() => {})], { id: `w${worker}` })
  await quiet()
  const received: string[] = []
  const { actor } = inThread
  const receive = actor.receive.bind(actor)
  actor.receive = (connection, requests) => {
    for (const { command } of requests) received.push(command.op)
    receive(connection, requests)
  }
  faults.fail({ kind: 'busy' }, FOREVER)
  const enqueued = engine.enqueue('b')
  await advance('4s')
  faults.heal()
  await advance('1s')
  await enqueued
  expect(received.filter((op) => op === 'attach').length).toBeLessThanOrEqual(15)
  expect((await engine.workers()).length).toBe(5)
})

test.each(['first', 'in the midst'])(
  '4: what was put off for a lock and then broken keeps its order, before what did not fit into the turn: the culprit %s',
  async (where) => {
    const { probe, faults, advance, expectTablesAsStored } = startFaulty()
    faults.fail({ kind: 'busy' }, { times: 1 })
    const culprit = (here: boolean, data: string) => (here ? '"culprit"' : data)
    const full = Array.from({ length: 2_000 }, (_, index) => ({ name: 'a', data: culprit(where !== 'first' && index === 7, '0') }))
    const replies = probe.settle([
      { op: 'enqueue', jobs: [{ name: 'a', data: culprit(where === 'first', '1') }] },
      { op: 'enqueue', jobs: full },
      { op: 'enqueue', jobs: [{ name: 'a', data: '3' }] },
    ])
    await quiet()
    faults.fail({ kind: 'statement', culprit: ({ jobs }) => jobs.some((job) => job.data === '"culprit"') }, FOREVER)
    await advance('25ms')
    expect((await replies).map(({ refusal }) => refusal?.code)).toEqual(
      where === 'first' ? ['INTERNAL', undefined, undefined] : [undefined, 'INTERNAL', undefined],
    )
    expect(probe.replied).toEqual([1, 2, 3])
    faults.heal()
    await expectTablesAsStored()
  },
)
