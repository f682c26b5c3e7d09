import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createTestEngine } from '@millrace/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from './app.ts'
import { handlers } from './handlers.ts'
import { confirmOrder } from './jobs.ts'

/** The app on a free port, over the real engine in memory. */
async function setUp() {
  const t = createTestEngine()
  const app = createApp(t.engine).listen(0, '127.0.0.1')
  await once(app, 'listening')
  onTestFinished(async () => {
    app.close()
    app.closeAllConnections()
    await t[Symbol.asyncDispose]()
  })
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}`
  const order = (body: string, headers: Record<string, string> = {}) => fetch(`${url}/orders`, { method: 'POST', body, headers })
  return { t, url, order }
}

test('an order is accepted, and confirmed by a worker', async () => {
  const { t, url, order } = await setUp()
  const accepted = await order('{"item":"book"}')
  expect(accepted.status).toBe(202)
  const { id } = (await accepted.json()) as { id: string }
  expect(await (await fetch(`${url}/orders/${id}`)).json()).toMatchObject({ state: 'waiting' })

  t.engine.work(handlers)
  await t.drain()
  expect(await (await fetch(`${url}/orders/${id}`)).json()).toEqual({ id, state: 'completed', output: 'one book is on its way' })
})

test('a request that is repeated with its key creates one job', async () => {
  const { t, order } = await setUp()
  const ids = []
  for (let i = 0; i < 2; i++) ids.push(await (await order('{"item":"book"}', { 'idempotency-key': 'order-1' })).json())
  expect(ids[1]).toEqual(ids[0])
  await t.expectEnqueued(confirmOrder, {}, { count: 1 })
})

test('a request without an item is refused, and creates no job', async () => {
  const { t, order } = await setUp()
  for (const body of ['', '{}', '{"item":1}']) expect((await order(body)).status).toBe(400)
  await t.expectEnqueued(confirmOrder, {}, { count: 0 })
})

test('a body that is too large, and a key that is not allowed, create no job', async () => {
  const { t, order } = await setUp()
  expect((await order('x'.repeat(64 * 1024))).status).toBe(400)
  expect((await order('x'.repeat(64 * 1024 + 1))).status).toBe(413)
  expect((await order('{"item":"book"}', { 'idempotency-key': 'k'.repeat(2_000) })).status).toBe(400)
  await t.expectEnqueued(confirmOrder, {}, { count: 0 })
})

test('a queue that is full is no fault: the client may try again', async () => {
  const { t, order } = await setUp()
  await t.engine.queues.configure('default', { maxLength: 1 })
  expect((await order('{"item":"book"}')).status).toBe(202)
  expect((await order('{"item":"book"}')).status).toBe(503)
})
