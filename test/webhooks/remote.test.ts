/** Feed and deliveries in a process that is connected to the engine: the same interface, and the same care when the server goes away. */
import { join } from 'node:path'
import { connect } from '@millrace/remote'
import { EventWebhooks, MemoryEndpointStore, webhookHandler } from '@millrace/webhooks'
import { expect, test } from 'vitest'
import { receiver } from '../../packages/webhooks/src/testing/receiver.ts'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'

const JOBS = 30

test('each event is told once, while the server is killed and comes back', async () => {
  const folder = temporaryFolder()
  const [file, socket] = [join(folder, 'jobs.db'), join(folder, 'sock')]
  const startServer = async () => {
    const program = startProgram(new URL('../remote/programs/server.ts', import.meta.url), [file, socket])
    await program.said(/^listening$/)
    return program
  }
  const server = await startServer()
  const target = await receiver()
  await using engine = await connect(`unix:${socket}`)
  await using feed = new EventWebhooks(engine, { endpoints: new MemoryEndpointStore() })
  feed.start()
  await feed.add({ id: 'e1', url: target.url, events: ['enqueued'] })
  engine.work([webhookHandler({ allowPrivate: true, allowHttp: true, ports: 'any' })])
  const handles = await engine.enqueueMany(Array.from({ length: JOBS }, () => ({ job: 'unserved' })))
  await target.until(JOBS / 3)
  await server.kill()
  await startServer()
  const idsTold = () => new Set(target.received.map(({ body }) => String(JSON.parse(body.toString()).data.jobId)))
  while (idsTold().size < JOBS) await target.until(target.received.length + 1)
  expect([...idsTold()].toSorted()).toEqual(handles.map(({ id }) => id).toSorted())
  await feed.stop()
  // One job for each, however often it had to be sent.
  expect((await engine.stats()).totals.enqueued).toBe(2 * JOBS)
})

test('a feed whose server is away can be stopped', async () => {
  const folder = temporaryFolder()
  const server = startProgram(new URL('../remote/programs/server.ts', import.meta.url), [join(folder, 'jobs.db'), join(folder, 'sock')])
  await server.said(/^listening$/)
  await using engine = await connect(`unix:${join(folder, 'sock')}`)
  const feed = new EventWebhooks(engine, { endpoints: new MemoryEndpointStore() })
  feed.start()
  await feed.add({ id: 'e1', url: 'https://example.com/', events: ['enqueued'] })
  await server.kill()
  feed.refresh()
  await new Promise((resolve) => setImmediate(resolve))
  await feed.stop()
})
