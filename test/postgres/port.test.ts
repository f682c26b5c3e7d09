// An engine over Postgres keeps the promises of every Port, and those of an engine whose writer dies.
import { randomBytes, randomUUID } from 'node:crypto'
import { Engine } from '@millrace/client'
import { DEFAULT_RETENTION, LIMITS, validatePostgresOptions } from '@millrace/core'
import { openEngine } from '@millrace/engine'
import { systemClock, WriterThread } from '@millrace/engine/internal'
import { openStore, openTunnel, serveTunnels } from '@millrace/postgres'
import { listen } from '@millrace/remote'
import { connectPort } from '@millrace/remote/internal'
import { portConformance } from '@millrace/testkit/conformance'
import { beforeEach, expect, test } from 'vitest'
import { postgresStore } from '../../packages/engine/src/postgres/postgresStore.ts'
import { Readers } from '../../packages/engine/src/readers/readers.ts'
import type { ThreadModule } from '../../packages/engine/src/storeModule.ts'
import { watchWriters } from '../proof/crash/writers.ts'
import { newSchema, storeOptions, type TestSchema } from './test.ts'

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

portConformance('a mailbox in the schema, a writer thread in memory behind it', async () => {
  // The schema, and in it the table of the mailbox, is made by a store.
  openStore(storeOptions(schema)).close()
  const engine = await openEngine({ file: ':memory:' })
  const secret = randomBytes(32)
  const server = await listen(engine, 'tls://127.0.0.1:0', { tls: { secret } })
  const tunnels = { ...schema, epoch: 1 }
  const stop = serveTunnels(tunnels, { host: '127.0.0.1', port: Number(new URL(server.url).port) })
  const where = async () => ({ url: `tls://127.0.0.1:${await openTunnel(tunnels, randomUUID())}`, tls: { secret } })
  const port = await connectPort(where)
  return {
    port,
    close: async () => {
      await port.close()
      await server.close()
      await engine.stop()
      stop()
    },
  }
})

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
