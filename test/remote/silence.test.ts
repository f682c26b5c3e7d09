/** Half-open connections: one end is gone, and nothing says so. Only frames that come are signs of life. */
import type { PortListener } from '@millrace/core'
import type { RemotePort } from '@millrace/remote/internal'
import { quiet, sessionIntro } from '@millrace/testkit/internal'
import { processKey } from '@millrace/worker/process'
import { expect, test } from 'vitest'
import { FaultyProxy } from './proxy.ts'
import { HELLO, RawClient, welcomed } from './rawClient.ts'
import { serve } from './served.ts'
import { until } from './until.ts'

const SECOND = 1_000

function listenTo(port: RemotePort): string[] {
  const said: string[] = []
  const listener: PortListener = {
    deliver: () => {},
    broken: ({ message }) => void said.push(message),
    reopened: () => void said.push('reopened'),
    lapsed: () => {},
    ended: () => void said.push('ended'),
  }
  port.listen(listener)
  return said
}

/** A worker of the process with that key. */
async function attached(url: string, uuid: string, process: string): Promise<RawClient> {
  const client = new RawClient(url)
  client.send({ ...HELLO, client: { ...HELLO.client, process } })
  await client.said('welcome')
  await client.ask({ op: 'attach', session: sessionIntro(['a'], { uuid, worker: uuid, local: false }), held: [] })
  return client
}

const pings = (client: RawClient) => client.heard.filter(({ type }) => type === 'ping').length

test('a server pings a quiet client after 15 s, once, and takes it for dead after 45 s', async () => {
  const { clock, url, server } = await serve()
  const client = await welcomed(url)
  await clock.advance(14_999)
  await quiet()
  expect(pings(client)).toBe(0)
  await clock.advance(1)
  await until(() => pings(client) === 1)
  await clock.advance(29_999)
  expect(server.connections).toBe(1)
  await clock.advance(1)
  await until(() => server.connections === 0)
  await client.gone()
})

test('a worker whose process dies without closing its connection is found out within 2 s, and no other', async ({ skip }) => {
  if (process.platform !== 'linux') skip('what tells processes apart is read from /proc')
  const dead: string[] = []
  const { clock, url, server } = await serve({ declareDead: (sessions) => dead.push(...sessions) })
  const bystander = await attached(url, 'bystander', processKey())
  const elsewhere = await attached(url, 'elsewhere', `another boot:1:${process.pid}:0`)
  // Its socket stays open, as the tunnel of a client through Postgres does.
  const client = await attached(url, 'worker', `${processKey()}1`)
  await clock.advance(1_999)
  await quiet()
  expect(server.connections).toBe(3)
  await clock.advance(1)
  await client.gone()
  expect(dead).toEqual(['worker'])
  await clock.advance(2_000)
  await quiet()
  expect([bystander.closed, elsewhere.closed, server.connections]).toEqual([false, false, 2])
})

test('a client that answers stays, for as long as it does', async () => {
  const { clock, url, server } = await serve()
  const client = await welcomed(url)
  for (let round = 1; round <= 10; round++) {
    await clock.advance(15 * SECOND)
    await until(() => pings(client) === round)
    client.send({ type: 'pong', nonce: 0 })
    client.send({ type: 'ping', nonce: round })
    await until(() => client.heard.filter(({ type }) => type === 'pong').length === round)
  }
  expect(server.connections).toBe(1)
})

test('what the server itself sends does not keep a dead client alive', async () => {
  const { clock, url, server, probe } = await serve()
  const client = await welcomed(url)
  client.send({ type: 'requests', requests: [{ id: 1, command: { op: 'subscribe', on: true } }] })
  await client.said('delivery')
  const other = await probe()
  for (let at = 0; at < 45; at += 5) {
    expect(server.connections).toBe(2)
    await clock.advance(5 * SECOND)
    await other.enqueue('a')
  }
  await until(() => server.connections === 1)
  expect(client.heard.filter((message) => message.type === 'delivery' && message.delivery.events.length > 0).length).toBeGreaterThan(5)
})

test('a client finds out by itself that its server is gone, and connects anew', async () => {
  const served = await serve()
  const proxy = await new FaultyProxy(served.url).open()
  const said = listenTo(await served.port({}, proxy.url))
  proxy.hold()
  await served.clock.advance(44_999)
  expect(said).toEqual([])
  await served.clock.advance(1)
  await until(() => said.length === 1)
  expect(said[0]).toContain('45 s')
  proxy.release()
  proxy.cut()
  for (let round = 0; said.length < 2; round++) {
    await quiet()
    if (round % 20 === 19) await served.clock.advance(100)
  }
  expect(said[1]).toBe('reopened')
})

test('a quiet connection lives on pings alone', async () => {
  const served = await serve()
  const said = listenTo(await served.port())
  for (let at = 0; at < 600; at += 5) {
    await served.clock.advance(5 * SECOND)
    await quiet()
    await quiet()
  }
  expect(said).toEqual([])
  expect(served.server.connections).toBe(1)
})
