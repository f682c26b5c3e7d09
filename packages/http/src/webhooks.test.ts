/** A test of an endpoint over HTTP: who may send it, and what it answers. */
import { type Engine, openEngine } from '@millrace/engine'
import { expect, onTestFinished, test } from 'vitest'
import { testApi } from './testing/api.ts'
import type { WebhookEndpoints } from './webhooks.ts'

const TOKEN = 'test-token-0123456789abcdef'
const uncalled = () => Promise.reject(new Error('a test changes no endpoint'))
const none: WebhookEndpoints = { list: uncalled, add: uncalled, enable: uncalled, disable: uncalled, remove: uncalled }

async function opened(): Promise<Engine> {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  return engine
}

test('a test is sent to the endpoint of the path, and answered with its job', async () => {
  const tested: string[] = []
  const webhooks: WebhookEndpoints = { ...none, test: async (id) => `job-${tested.push(id)}` }
  const http = testApi(await opened(), { token: TOKEN, webhooks })
  expect(await http.send('POST', '/v1/webhooks/billing/test')).toMatchObject({ status: 202, body: { jobId: 'job-1' } })
  expect(tested).toEqual(['billing'])
})

test('a token that only reads sends none, and neither do endpoints that cannot', async () => {
  const engine = await opened()
  const webhooks: WebhookEndpoints = { ...none, test: uncalled }
  const reading = testApi(engine, { token: [{ token: TOKEN, scopes: ['read'] }], webhooks })
  expect((await reading.send('POST', '/v1/webhooks/billing/test')).status).toBe(403)
  const http = testApi(engine, { token: TOKEN, webhooks: none })
  expect(await http.send('POST', '/v1/webhooks/billing/test')).toMatchObject({ status: 501, body: { code: 'UNSUPPORTED' } })
})
