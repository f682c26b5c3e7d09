// Postgres behind a Port.
import { Engine } from '@millrace/client'
import { DEFAULT_RETENTION, LIMITS, validatePostgresOptions } from '@millrace/core'
import { InThreadEngine, systemCalendar, systemClock, systemRandom, WriterThread } from '@millrace/engine/internal'
import * as driver from '@millrace/postgres'
import { type PortUnderTest, portConformance } from '@millrace/testkit/conformance'
import { beforeEach, expect, test } from 'vitest'
import { postgresStore } from '../../packages/engine/src/postgres/postgresStore.ts'
import { pagesOf } from '../../packages/engine/src/readers/pagesOf.ts'
import { Readers } from '../../packages/engine/src/readers/readers.ts'
import { ReadingPort } from '../../packages/engine/src/readers/readRouter.ts'
import type { ThreadModule } from '../../packages/engine/src/storeModule.ts'
import { sampled } from '../../packages/testkit/src/testing/runs.ts'
import { watchWriters } from '../proof/crash/writers.ts'
import { keptBridge } from './keptBridge.ts'
import { keptSchema } from './keptSchema.ts'
import { storeOptions, type TestSchema } from './test.ts'

async function start({ url, schema }: TestSchema): Promise<WriterThread> {
  const store = postgresStore(driver, validatePostgresOptions({ postgres: url, schema, durability: 'normal' }))
  const thread = new WriterThread({
    store,
    settings: { recovery: 'immediate', retention: DEFAULT_RETENTION },
    clock: systemClock,
    readers: new Readers(store.reader as ThreadModule, 1),
  })
  await thread.start()
  return thread
}

/** The writer's actor, with a reader beside it, on this thread: lists are read by a connection of their own, as those of readers are. */
function startInThread(schema: TestSchema): PortUnderTest {
  const settings = { recovery: 'immediate', retention: DEFAULT_RETENTION, calendar: systemCalendar } as const
  const store = driver.openStore({ ...storeOptions(schema), random: systemRandom, now: systemClock.read().wall }, undefined, keptBridge)
  const engine = new InThreadEngine({ store, clock: systemClock, random: systemRandom, settings })
  let reader: driver.StoreReader | undefined
  const page = pagesOf(() => {
    reader = driver.openReader(schema, keptBridge)
    return reader
  })
  const port = new ReadingPort(engine.port({ owner: true }), { page: async (command) => page(command) })
  return {
    port,
    close: async () => {
      await port.close()
      reader?.close()
    },
  }
}

let schema: TestSchema

beforeEach((context) => {
  schema = keptSchema(context)
})

/** The cases of the suite that a real writer thread serves, with reader threads beside it. `pnpm test:all` serves all by one. */
const byThread = new Set(
  sampled(
    Array.from({ length: 200 }, (_, place) => place),
    8,
  ),
)
let cases = 0

portConformance(
  'a writer over Postgres',
  async () => {
    if (!byThread.has(cases++)) return startInThread(schema)
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
