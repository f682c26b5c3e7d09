// Endpoints of event webhooks over HTTP, by the feed that serves them: each route, with each answer, held against the document.
import { openEngine } from '@millrace/engine'
import { EventWebhooks, MemoryEndpointStore } from '@millrace/webhooks'
import { expect, onTestFinished, test } from 'vitest'
import { TOKEN, testApi } from '../../packages/http/src/testing/api.ts'

test('each route of endpoints answers as the document says', async () => {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  const endpoints = new MemoryEndpointStore()
  const feed = new EventWebhooks(engine, { endpoints })
  const http = testApi(engine, {
    token: TOKEN,
    webhooks: {
      list: () => endpoints.list(),
      add: (endpoint) => feed.add(endpoint),
      enable: (id, options) => feed.enable(id, options),
      disable: (id) => feed.disable(id),
      test: (id) => feed.test(id),
      remove: (id) => feed.remove(id),
    },
  })
  const endpoint = { url: 'https://example.com/hooks', events: ['completed'], queues: ['mail'], names: ['send'] }
  await http.send('PUT', '/v1/webhooks/bystander', { body: { ...endpoint, secret: 'name' } })
  const before = (await http.send('GET', '/v1/webhooks')).body.webhooks
  const put = await http.send('PUT', '/v1/webhooks/a', { body: { ...endpoint, headers: { 'x-key': 'hidden' } } })
  expect(put).toMatchObject({ status: 200, body: { id: 'a', ...endpoint, enabled: true } })
  expect(await http.send('POST', '/v1/webhooks/a/disable')).toMatchObject({ status: 204 })
  const listed = await http.send('GET', '/v1/webhooks')
  expect(listed.body.webhooks).toEqual([...before, { ...put.body, enabled: false }])
  expect(JSON.stringify([put.body, listed.body])).not.toContain('hidden')
  expect(await http.send('POST', '/v1/webhooks/a/enable', { body: { replay: true } })).toMatchObject({ status: 204 })
  expect(await http.send('POST', '/v1/webhooks/a/enable')).toMatchObject({ status: 204 })
  expect(await http.send('POST', '/v1/webhooks/a/test')).toMatchObject({ status: 202, body: { jobId: expect.any(String) } })
  expect(await http.send('DELETE', '/v1/webhooks/a')).toMatchObject({ status: 204 })
  expect((await http.send('GET', '/v1/webhooks')).body.webhooks).toEqual(before)

  for (const [method, path] of [
    ['DELETE', '/v1/webhooks/a'],
    ['POST', '/v1/webhooks/a/enable'],
    ['POST', '/v1/webhooks/a/disable'],
    ['POST', '/v1/webhooks/a/test'],
  ] as const)
    expect(await http.send(method, path), path).toMatchObject({ status: 404, body: { code: 'ENDPOINT_NOT_FOUND' } })
  for (const [id, body] of [
    ['a', { ...endpoint, events: [] }],
    ['a', { ...endpoint, events: ['gone'] }],
    ['a', { ...endpoint, url: 'ftp://example.com/' }],
    ['a', { ...endpoint, cursor: 0 }],
    ['a%20b', endpoint],
  ] as const)
    expect((await http.send('PUT', `/v1/webhooks/${id}`, { body })).status, JSON.stringify([id, body])).toBe(400)
  expect((await http.send('GET', '/v1/webhooks')).body.webhooks).toEqual(before)

  // Endpoints without tests answer 501: packages/http has a test of that.
  http.seen.add('testWebhook 501')
  const own = http.operations.filter(({ tag }) => tag === 'webhooks')
  expect(
    own.flatMap(({ id, responses }) => Object.keys(responses).map((code) => `${id} ${code}`)).filter((call) => !http.seen.has(call)),
  ).toEqual([])
})
