// 8: an engine that has lost its file stops before its next answer, and writes nothing more.
import { once } from 'node:events'
import { CommitUnknownError, defineJob, OwnerLostError, openEngine } from '@millrace/engine'
import { quiet } from '@millrace/testkit/internal'
import { expect, test } from 'vitest'
import { stealFile, tableRows } from '../../packages/sqlite/src/testing/inspect.ts'
import { temporaryFile } from '../temporary.ts'
import { startFaulty } from './faulty.ts'

const a = defineJob({ name: 'a' })

test('the turn that finds out answers nothing, and later calls are refused with OwnerLostError', async () => {
  const { engine, faults, store } = startFaulty()
  let reason: unknown
  engine.work([
    a.handler(async ({ signal }) => {
      await once(signal, 'abort')
      reason = signal.reason
    }),
  ])
  const handle = await engine.enqueue(a)
  const result = handle.result()
  await quiet()
  faults.fail({ kind: 'owner' })
  const inFlight = await Promise.allSettled([engine.enqueue('b'), engine.cancel(handle.id)])
  expect(inFlight.map((call) => call.status === 'rejected' && call.reason.constructor)).toEqual([CommitUnknownError, CommitUnknownError])
  for (const call of [() => engine.enqueue('b'), () => engine.stats(), () => engine.get(handle.id), () => result]) {
    await expect(call()).rejects.toThrow(OwnerLostError)
  }
  expect(reason).toBeInstanceOf(OwnerLostError)
  expect(store.load().nextSeq).toBe(2)
})

test('with a writer thread: the file is found taken over at the next commit, and nothing is written to it', async () => {
  const file = temporaryFile()
  const engine = await openEngine({ file })
  const kept = await engine.enqueue(a)
  stealFile(file)
  await expect(engine.enqueue(a)).rejects.toThrow(/taken the file over/)
  await expect(engine.enqueue(a)).rejects.toThrow(OwnerLostError)
  expect(tableRows(file, 'job')).toMatchObject([{ seq: 1, state: 1 }])
  await engine.stop()
  // It is free again at once, also in this process.
  await using next = await openEngine({ file })
  expect((await next.get(kept.id))?.state).toBe('waiting')
})
