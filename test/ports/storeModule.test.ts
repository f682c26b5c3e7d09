// A store module that is no file: the engine needs nothing of SQLite to run it.
import { Engine } from '@millrace/client'
import { DEFAULT_RETENTION, LIMITS } from '@millrace/core'
import { systemClock, WriterThread } from '@millrace/engine/internal'
import { portConformance } from '@millrace/testkit/conformance'
import { expect, test } from 'vitest'
import { watchWriters } from '../proof/crash/writers.ts'

const LOST = { code: 'OWNER_LOST', message: 'the memory of its writer is gone' } as const

async function start(): Promise<WriterThread> {
  const thread = new WriterThread({
    store: {
      writer: { file: () => new URL('programs/memoryWriter.ts', import.meta.url), options: { node: 7 } },
      reader: undefined,
      onServer: false,
      ownership: () => {
        throw new Error('nobody shares it')
      },
      gone: () => LOST,
    },
    settings: { recovery: 'immediate', retention: DEFAULT_RETENTION },
    clock: systemClock,
  })
  await thread.start()
  return thread
}

portConformance(
  'a writer thread over a store in memory',
  async () => {
    const thread = await start()
    return { port: thread, close: () => thread.close() }
  },
  { inFile: false },
)

test('a store that is gone with its writer is not put in its place by an empty one', async () => {
  const writers = watchWriters()
  const thread = await start()
  const engine = new Engine(thread, { maxDataBytes: LIMITS.dataBytes, clock: systemClock, host: 'test', pid: process.pid, local: true })
  await engine.enqueue('a')
  await writers.kill()
  await expect(engine.stats()).rejects.toMatchObject({ code: 'OWNER_LOST', message: expect.stringContaining(LOST.message) })
  await engine.stop()
})
