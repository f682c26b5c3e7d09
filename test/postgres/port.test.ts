import { Engine } from '@millrace/client'
import { DEFAULT_RETENTION, LIMITS, validatePostgresOptions } from '@millrace/core'
import { systemClock, WriterThread } from '@millrace/engine/internal'
import { portConformance } from '@millrace/testkit/conformance'
import { beforeEach, expect, test } from 'vitest'
import { postgresStore } from '../../packages/engine/src/postgres/postgresStore.ts'
import { Readers } from '../../packages/engine/src/readers/readers.ts'
import type { ThreadModule } from '../../packages/engine/src/storeModule.ts'
import { watchWriters } from '../proof/crash/writers.ts'
import { newSchema, type TestSchema } from './test.ts'

async function start({ url, schema }: TestSchema): Promise<WriterThread> {
  const store = postgresStore(validatePostgresOptions({ postgres: url, schema, durability: 'normal' }))
  const thread = new WriterThread({
    store,
    settings: { recovery: 'immediate', retention: DEFAULT_RETENTION },
    clock: systemClock,
    readers: new Readers(store.reader as ThreadModule, 1),
  })
  await thread.start()
  return thread
}

let schema: TestSchema

beforeEach((context) => {
  schema = newSchema(context)
})

portConformance(
  'a writer thread over Postgres',
  async () => {
    const thread = await start(schema)
    return { port: thread, close: () => thread.close() }
  },
  { inFile: false },
)

test('a writer that dies has a successor, which loses nothing that was acknowledged', async () => {
  const writers = watchWriters()
  const thread = await start(schema)
  const engine = new Engine(thread, { maxDataBytes: LIMITS.dataBytes, clock: systemClock, host: 'test', pid: process.pid, local: true })
  const bystander = await engine.enqueue('a', 'by')
  await writers.kill()
  const later = await engine.enqueue('a', 'later')
  expect((await engine.list()).jobs.map(({ id, data }) => ({ id, data }))).toEqual([
    { id: later.id, data: 'later' },
    { id: bystander.id, data: 'by' },
  ])
  await engine.stop()
})
