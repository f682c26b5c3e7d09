// A storage error before COMMIT: the whole turn is refused, definitely, and nothing of it happened anywhere.
import { isJobEvent } from '@millrace/core'
import { defineJob, StorageError } from '@millrace/engine'
import { quiet } from '@millrace/testkit/internal'
import { expect, test } from 'vitest'
import { startFaulty } from './faulty.ts'

const a = defineJob({ name: 'a' })

test('E1: every command of the turn is refused, nothing is written, the tables are what the file says', async () => {
  const { probe, faults, store, expectTablesAsStored } = startFaulty()
  const bystander = await probe.enqueue('a', { data: '"before"' })
  const { nextSeq } = store.load()
  faults.fail({ kind: 'io' })
  const replies = await probe.settle([
    { op: 'enqueue', jobs: [{ name: 'a', data: '1' }] },
    { op: 'enqueue', jobs: [{ name: 'new', data: '2', tags: ['t'], idempotencyKey: 'k' }] },
    { op: 'cancel', id: bystander },
  ])
  expect(replies.map(({ refusal }) => refusal?.code)).toEqual(['STORAGE', 'STORAGE', 'STORAGE'])
  expect(store.load()).toMatchObject({ nextSeq, lanes: [{ name: 'a', counts: [0, 1, 0, 0, 0, 0, 0] }] })
  await expectTablesAsStored()
  expect(await probe.enqueue('new', { idempotencyKey: 'k' })).toMatchObject({ created: true, seq: nextSeq })
  expect((await probe.call<'get'>({ op: 'get', id: bystander }))?.state).toBe('waiting')
  await expectTablesAsStored()
})

test('error-not-masked-by-rollback: the message says what SQLite said first', async () => {
  const { engine, faults } = startFaulty()
  faults.fail({ kind: 'io' })
  const error = await engine.enqueue('a').catch((thrown) => thrown)
  expect(error).toBeInstanceOf(StorageError)
  expect(error).toMatchObject({ code: 'STORAGE', retryable: true, message: expect.stringContaining('SQLITE_IOERR_WRITE') })
})

test('pop-only-after-commit: a job that was to start in a turn that failed is handed out later, as its first run', async () => {
  const { probe, faults, advance } = startFaulty()
  const waiting = await probe.enqueue('a')
  faults.fail({ kind: 'io' })
  await expect(probe.attach(['a'])).rejects.toThrow(StorageError)
  expect([probe.grants.size, await probe.notices.take()]).toEqual([0, { kind: 'reattach' }])
  await probe.attach(['a'])
  expect(await probe.grants.take()).toMatchObject({ seq: waiting.seq, run: 1, attempt: 1 })
  // A worker waits: what is enqueued is started in the same turn, or not at all.
  faults.fail({ kind: 'io' })
  await expect(probe.enqueue('a')).rejects.toThrow(StorageError)
  await advance('1s')
  expect(probe.grants.size).toBe(0)
})

test('no-ack-before-commit: no answer, grant, notice or event before the write has returned, and none where it fails', async () => {
  const { engine, inThread, faults, store } = startFaulty()
  const told: string[] = []
  const port = inThread.port()
  port.listen({
    deliver: ({ replies, grants, events }) => {
      const count = store.load().nextSeq - 1
      for (const { id, refusal } of replies) told.push(`${refusal?.code ?? 'ok'} ${id} with ${count} rows`)
      for (const { seq, run } of grants) told.push(`grant ${seq}.${run} with ${store.jobs([seq])[0]?.state}`)
      for (const event of events) if (isJobEvent(event)) told.push(`${event.type} ${event.jobSeq}`)
    },
    broken: () => {},
    lapsed: () => {},
    reopened: () => {},
    ended: () => {},
  })
  const worker = engine.work([a.handler(() => 'done')], { concurrency: 1 })
  await quiet()
  port.send([{ id: 1, command: { op: 'subscribe', on: true } }])
  port.send([{ id: 2, command: { op: 'enqueue', jobs: [{ name: 'a', data: null }] } }])
  await quiet()
  faults.fail({ kind: 'io' })
  port.send([{ id: 3, command: { op: 'enqueue', jobs: [{ name: 'a', data: null }] } }])
  await quiet()
  await worker.stop()
  expect(told).toEqual(['ok 1 with 1 rows', 'ok 2 with 1 rows', 'enqueued 1', 'started 1', 'completed 1', 'STORAGE 3 with 1 rows'])
})

test('ioerr-never-degrades-silently: while the disk fails every change is refused, and what was accepted is on the disk', async () => {
  const { engine, faults, store, advance, expectTablesAsStored } = startFaulty()
  const runs: string[] = []
  engine.work([a.handler(({ job }) => void runs.push(job.id))])
  const before = await engine.enqueue(a)
  await before.result()
  faults.fail({ kind: 'io' }, { times: Number.POSITIVE_INFINITY })
  for (let call = 0; call < 20; call++) await expect(engine.enqueue(a)).rejects.toThrow(StorageError)
  await advance('1m')
  // Questions are answered, from the file.
  expect((await engine.stats()).totals).toMatchObject({ enqueued: 1, completed: 1 })
  faults.heal()
  await advance('1s')
  const after = await engine.enqueue(a)
  await after.result()
  expect(runs).toEqual([before.id, after.id])
  expect(store.load().nextSeq).toBe(3)
  await expectTablesAsStored()
})

test('a disk that fails for long is tried again now and then, not without a pause', async () => {
  const { engine, probe, faults, advance } = startFaulty()
  // Something is always due: a job, and a worker that wants to attach.
  await probe.enqueue('a', { delay: 1_000 })
  engine.work([a.handler(() => {})])
  await quiet()
  faults.fail({ kind: 'io' }, { times: Number.POSITIVE_INFINITY })
  const { writes } = faults
  await advance('10s')
  expect(faults.writes - writes).toBeGreaterThan(5)
  expect(faults.writes - writes).toBeLessThan(200)
  faults.heal()
  await advance('1s')
  expect((await engine.stats()).states.completed).toBe(1)
})

test('fail-during-store-outage: a completion that the disk refuses is said again, and the handler is not', async () => {
  const { engine, faults, advance, expectTablesAsStored } = startFaulty()
  let runs = 0
  engine.work([
    a.handler(() => {
      runs++
      faults.fail({ kind: 'io' }, { times: 5 })
      return 'once'
    }),
  ])
  const handle = await engine.enqueue(a)
  await advance('5s')
  expect(await handle.result()).toBe('once')
  expect([runs, (await engine.get(handle.id))?.attempt]).toEqual([1, 1])
  await expectTablesAsStored()
})

test('a question that cannot be read is refused alone', async () => {
  const { engine, faults } = startFaulty()
  const { id } = await engine.enqueue('a')
  faults.failRead('attempts')
  const [asked, enqueued] = await Promise.allSettled([engine.get(id), engine.enqueue('a')])
  expect(asked).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE' } })
  expect(enqueued.status).toBe('fulfilled')
  expect((await engine.get(id))?.state).toBe('waiting')
})

test('what is read after a commit cannot undo it: a failing read of the next due time refuses nothing that was written', async () => {
  const { probe, clock, faults, advance, expectTablesAsStored } = startFaulty()
  const id = await probe.enqueue('a', { delay: 1_000 })
  await probe.enqueue('b', { delay: 5_000 })
  clock.jump(1_000)
  faults.failRead('deadlines')
  // In the turn that finds the first one due.
  await probe.enqueue('c')
  await advance('1s')
  expect((await probe.call<'get'>({ op: 'get', id }))?.state).toBe('waiting')
  await advance('4s')
  expect((await probe.call<'stats'>({ op: 'stats' })).states).toMatchObject({ waiting: 3, scheduled: 0 })
  await expectTablesAsStored()
})
