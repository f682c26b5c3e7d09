// COMMIT itself fails: nobody can know. The calls are told so, the file is opened anew, and whatever is true there goes on.
import { CommitUnknownError, defineJob } from '@millrace/engine'
import { quiet } from '@millrace/testkit/internal'
import { describe, expect, test } from 'vitest'
import { gate } from '../gate.ts'
import { startFaulty } from './faulty.ts'

const a = defineJob({ name: 'a' })

describe.each([
  { committed: true, what: 'the phantom commit: it was written after all' },
  { committed: false, what: 'it was not written' },
])('$what', ({ committed }) => {
  const fault = { kind: 'commit', committed } as const

  test('5: every call of the turn gets CommitUnknownError, and all or none of them is there after the reopening', async () => {
    const { engine, faults, expectTablesAsStored } = startFaulty()
    await engine.enqueue('bystander')
    faults.fail(fault)
    const calls = await Promise.allSettled([engine.enqueue(a, 1), engine.enqueue(a, 2), engine.enqueueMany([{ job: a }, { job: a }])])
    for (const call of calls) {
      expect(call.status === 'rejected' && call.reason).toBeInstanceOf(CommitUnknownError)
      expect(call).toMatchObject({ reason: { code: 'COMMIT_UNKNOWN', retryable: true } })
    }
    const { states, writer } = await engine.stats()
    expect([faults.reopened, writer.reloads, states.waiting]).toEqual([1, 1, committed ? 5 : 1])
    await expectTablesAsStored()
  })

  test('1: said again with the same idempotency key, there is exactly one job', async () => {
    const { engine, faults } = startFaulty()
    faults.fail(fault)
    const enqueue = () => engine.enqueue(a, 'paid', { idempotencyKey: 'order-7' })
    await expect(enqueue()).rejects.toThrow(/idempotencyKey/)
    const { created, id } = await enqueue()
    expect(created).toBe(!committed)
    expect((await engine.list({ name: 'a' })).jobs.map((job) => job.id)).toEqual([id])
  })

  test('2: a completion in doubt is said again: neither lost nor run twice', async () => {
    const { engine, faults, advance, expectTablesAsStored } = startFaulty()
    let runs = 0
    engine.work([
      a.handler(({ enqueue }) => {
        runs++
        enqueue('child')
        faults.fail(fault)
        return 'once'
      }),
    ])
    const handle = await engine.enqueue(a)
    const result = handle.result()
    await advance('1s')
    expect(await result).toBe('once')
    expect(runs).toBe(1)
    expect(await engine.get(handle.id)).toMatchObject({ state: 'completed', run: 1, attempt: 1 })
    // What it enqueued came with it, once.
    expect((await engine.stats()).states).toMatchObject({ completed: 1, waiting: 1 })
    await expectTablesAsStored()
  })

  test('a failure in doubt uses one attempt', async () => {
    const { engine, faults, advance } = startFaulty()
    let runs = 0
    engine.work([
      a.handler(({ job }) => {
        runs++
        if (job.attempt > 1) return 'second'
        faults.fail(fault)
        throw new Error('first')
      }),
    ])
    const handle = await engine.enqueue(a, null, { backoff: { type: 'fixed', delay: '10s' } })
    await advance('11s')
    expect(await handle.result()).toBe('second')
    expect([runs, (await engine.get(handle.id))?.attempt]).toEqual([2, 2])
  })

  test('a hand-out in doubt never reached its worker: it is handed out again, and no attempt is used', async () => {
    const { engine, faults, advance, expectTablesAsStored } = startFaulty()
    const attempts: number[] = []
    engine.work([a.handler(({ job }) => void attempts.push(job.attempt))])
    await quiet()
    faults.fail(fault)
    await expect(engine.enqueue(a, null, { maxAttempts: 1, idempotencyKey: 'k' })).rejects.toThrow(CommitUnknownError)
    const handle = await engine.enqueue(a, null, { maxAttempts: 1, idempotencyKey: 'k' })
    await advance('1s')
    await handle.result()
    expect(attempts).toEqual([1])
    await expectTablesAsStored()
  })

  test('a running job goes on through it: the session names it, and it completes as the run that it is', async () => {
    const { engine, faults, advance } = startFaulty()
    const held = gate()
    engine.work([a.handler(held.wait)])
    const handle = await engine.enqueue(a)
    await quiet()
    faults.fail(fault)
    await expect(engine.enqueue('b')).rejects.toThrow(CommitUnknownError)
    await advance('4m')
    expect(await engine.get(handle.id)).toMatchObject({ run: 1 })
    held.open()
    await advance('1s')
    expect([held.runs, (await engine.get(handle.id))?.state]).toEqual([1, 'completed'])
  })

  test('a cancel in doubt can be said again', async () => {
    const { engine, faults } = startFaulty()
    const { id } = await engine.enqueue('b')
    faults.fail(fault)
    await expect(engine.cancel(id)).rejects.toThrow(CommitUnknownError)
    const again = await engine.cancel(id).catch((error) => error.code)
    expect(again).toBe(committed ? 'JOB_FINISHED' : 'cancelled')
    expect((await engine.get(id))?.state).toBe('cancelled')
  })

  test('a worker that stops meanwhile gives back what it holds, without using an attempt', async () => {
    const { engine, faults, advance } = startFaulty()
    const worker = engine.work([a.handler(() => new Promise(() => {}))], { abortGrace: 0 })
    const handle = await engine.enqueue(a, null, { maxAttempts: 1 })
    await quiet()
    // Drained, aborted, and then the leave is in doubt.
    const stopped = worker.stop({ timeout: '1s' })
    await quiet()
    faults.fail(fault)
    await advance('10s')
    await stopped
    expect(await engine.get(handle.id)).toMatchObject({ state: 'waiting', attempt: 0 })
    expect(await engine.workers()).toEqual([])
    engine.work([a.handler(({ job }) => job.attempt)])
    expect(await handle.result()).toBe(1)
  })
})

test('a file that cannot be opened again ends the engine: its calls are of unknown outcome, later ones are refused', async () => {
  const { engine, faults, store } = startFaulty()
  await engine.enqueue('b')
  store.close()
  faults.fail({ kind: 'commit', committed: false })
  const [unknown] = await Promise.allSettled([engine.enqueue(a)])
  expect(unknown).toMatchObject({ status: 'rejected', reason: { code: 'COMMIT_UNKNOWN' } })
  await expect(engine.enqueue(a)).rejects.toMatchObject({ code: 'STORAGE' })
})
