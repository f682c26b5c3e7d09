/** Deliveries that take longer than the job's own `timeout`, under a clock that moves when it is told to. */
import { createTestEngine } from '@millrace/testkit'
import { webhookHandler, webhookJob } from '@millrace/webhooks'
import { expect, test } from 'vitest'
import { receiver } from '../../packages/webhooks/src/testing/receiver.ts'

const LOCAL = { allowPrivate: true, allowHttp: true, ports: 'any' } as const

test('M3: an answer that takes 50 minutes is waited for', async () => {
  const answers = Promise.withResolvers<() => void>()
  const server = await receiver((_received, response) => answers.resolve(() => response.end('at last')))
  await using bench = createTestEngine()
  const { engine, clock } = bench
  engine.work(webhookHandler({ ...LOCAL, clock, maxTimeout: '1h' }))
  const handle = await engine.enqueue(webhookJob, { url: server.url, timeout: '1h' })
  await server.until(1)
  await bench.advance('50m')
  expect(await engine.get(handle.id)).toMatchObject({ state: 'active', attempt: 1 })
  ;(await answers.promise)()
  expect(await handle.result()).toMatchObject({ status: 200, body: 'at last' })
  expect(server.received).toHaveLength(1)
})

test('M3: one that takes longer than that ends then, and not before', async () => {
  const server = await receiver(() => {})
  await using bench = createTestEngine()
  const { engine, clock } = bench
  engine.work(webhookHandler({ ...LOCAL, clock, maxTimeout: '1h' }))
  const { id } = await engine.enqueue(webhookJob, { url: server.url, timeout: '1h' })
  await server.until(1)
  const retried = new Promise<void>((resolve) => engine.once('retrying', () => resolve()))
  await bench.advance('3599s')
  expect(await engine.get(id)).toMatchObject({ state: 'active' })
  await bench.advance('1s')
  await retried
  expect(await engine.get(id)).toMatchObject({ state: 'scheduled', attempts: [{ error: { name: 'DeliveryTimeoutError' } }] })
})
