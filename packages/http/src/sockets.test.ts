/** ADR 67: where the sockets are, before a token is sent; and who sees which. */
import { type Engine, openEngine } from '@millrace/engine'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SocketPlace } from './sockets.ts'
import { testApi } from './testing/api.ts'

const PLACES: readonly SocketPlace[] = [
  { kind: 'unix', path: '/srv/jobs.db-socket', file: '7:11' },
  { kind: 'pipe', path: 'jobs' },
  { kind: 'tcp', port: 7411, local: true },
  { kind: 'tls', port: 7412, local: true },
  { kind: 'tls', port: 7413, local: false },
]
const PORT = { kind: 'tls', port: 7413 }
const ALL = [PLACES[0], PLACES[1], { kind: 'tcp', port: 7411 }, { kind: 'tls', port: 7412 }, PORT]

let engine: Engine
beforeAll(async () => {
  engine = await openEngine({ file: ':memory:' })
})
afterAll(() => engine.stop())

function api() {
  return testApi(engine, { token: 'test-token-0123456789abcdef', sockets: () => PLACES })
}

const near = { remoteAddress: '127.0.0.1' }

test('a program of this machine sees all of them, without a token', async () => {
  for (const remoteAddress of ['127.0.0.1', '127.8.0.1', '::1', '::ffff:127.0.0.1'])
    expect(await api().send('GET', '/v1/sockets', { env: { remoteAddress }, headers: { authorization: '' } })).toMatchObject({
      status: 200,
      body: { sockets: ALL },
    })
})

test('others see the ports that they can reach, and no path', async () => {
  // With a proxy on this machine, the address that it reports counts, and not that of the connection.
  const proxied = { remoteAddress: '10.0.0.7', incoming: { socket: near } }
  for (const env of [{ remoteAddress: '10.0.0.7' }, { remoteAddress: 'fe80::1' }, {}, proxied])
    expect((await api().send('GET', '/v1/sockets', { env })).body).toEqual({ sockets: [PORT] })
})

test.each(['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'origin', 'referer', 'sec-fetch-site'])(
  'a request with %s may come from elsewhere, or from a page',
  async (name) => {
    expect((await api().send('GET', '/v1/sockets', { env: near, headers: { [name]: 'x' } })).body).toEqual({ sockets: [PORT] })
  },
)

test('a page that has pointed its own name at this machine sees no path', async () => {
  const hosts = ['rebound.example', 'rebound.example:7410', 'localhost.rebound.example', '127.0.0.1:7410', 'localhost']
  const seen = await Promise.all(hosts.map((host) => api().send('GET', '/v1/sockets', { env: near, headers: { host } })))
  expect(seen.map(({ body }) => body.sockets.length)).toEqual([1, 1, 1, ALL.length, ALL.length])
})

test('without the option there is no such route', async () => {
  expect((await testApi(engine).send('GET', '/v1/sockets', { env: near })).status).toBe(404)
  expect(() => testApi(engine, { open: true, sockets: [] as never })).toThrow('sockets must be a function')
})
