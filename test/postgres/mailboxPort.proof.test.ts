// The way through the schema keeps the promises of every Port.
import { randomBytes, randomUUID } from 'node:crypto'
import { openEngine } from '@millrace/engine'
import { openStore, openTunnel, serveTunnels } from '@millrace/postgres'
import { listen } from '@millrace/remote'
import { connectPort } from '@millrace/remote/internal'
import { portConformance } from '@millrace/testkit/conformance'
import { beforeEach } from 'vitest'
import { newSchema, storeOptions, type TestSchema } from './test.ts'

let schema: TestSchema

beforeEach((context) => {
  schema = newSchema(context)
})

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
