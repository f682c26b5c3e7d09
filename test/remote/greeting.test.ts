/** Before a client may say anything: who it is, in time, in few bytes, in a version that both speak. */
import { Socket } from 'node:net'
import { join } from 'node:path'
import { connect, listen } from '@millrace/remote'
import { encodeMessage } from '@millrace/wire'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { HELLO, RawClient, welcomed } from './rawClient.ts'
import { serve } from './served.ts'
import { until } from './until.ts'

const [token, other, wrong] = ['correct horse battery', 'staple staple staple', 'wrong wrong wrong wrong']

test('a client without a token is welcomed where none is asked for, with every scope and the limits', async () => {
  const { url, server } = await serve()
  const client = await welcomed(url)
  expect(await client.said('welcome')).toMatchObject({
    version: 1,
    scopes: ['enqueue', 'work', 'read', 'admin', 'send'],
    limits: { frameBytes: 17 * 2 ** 20, requestsInFlight: 10_000, bytesInFlight: 8 * 2 ** 20, pingMs: 15_000, silenceMs: 45_000 },
  })
  expect(server.connections).toBe(1)
  client.socket.destroy()
  await until(() => server.connections === 0)
})

test.each([
  ['a wrong token', wrong],
  ['no token', undefined],
])('%s: AUTH_FAILED, for good, and the engine hears nothing', async (_what, given) => {
  const { url, engine } = await serve({ listen: { token } })
  const client = new RawClient(url)
  client.send({ ...HELLO, token: given })
  expect(await client.said('goodbye')).toMatchObject({ code: 'AUTH_FAILED', retryAfterMs: -1 })
  await client.gone()
  expect(client.heard).toHaveLength(1)
  expect(engine.actor.hasMail).toBe(false)
})

test('connect rejects at once, with a typed error', async () => {
  const { probe } = await serve({ listen: { token } })
  await expect(probe({ token: wrong })).rejects.toMatchObject({ name: 'AuthFailedError', code: 'AUTH_FAILED' })
  await expect(probe()).rejects.toMatchObject({ code: 'AUTH_FAILED' })
})

test('two tokens are good at a time', async () => {
  const { probe } = await serve({ listen: { token: [{ token }, { token: other }] } })
  await (await probe({ token })).barrier()
  await (await probe({ token: other })).barrier()
})

test('wrong tokens of this machine shut nobody out: the right one is welcome, and the log says once that there are many', async () => {
  const warnings: string[] = []
  const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) }
  const { url } = await serve({ url: 'tcp://127.0.0.1:0', listen: { token, logger } })
  for (let times = 0; times < 7; times++) {
    const client = new RawClient(url)
    client.send({ ...HELLO, token: wrong })
    expect(await client.said('goodbye')).toMatchObject({ code: 'AUTH_FAILED', retryAfterMs: -1 })
    await client.gone()
  }
  expect(warnings).toEqual([
    ...Array(5).fill('a client came with a wrong token'),
    expect.stringContaining('an address of this machine has sent too many wrong tokens'),
  ])
  const client = new RawClient(url)
  client.send({ ...HELLO, token })
  await client.said('welcome')
})

test('five wrong tokens of another machine: further wrong ones are BUSY for half a minute, the right one is welcome', async () => {
  const { clock, url } = await serve({ url: 'tcp://127.0.0.1:0', listen: { token } })
  // Only the address is made up: loopback is never refused.
  const prototype = Socket.prototype as unknown as { _getpeername(): object }
  const address = vi.spyOn(prototype, '_getpeername').mockReturnValue({ address: '10.1.2.3', family: 'IPv4', port: 1 })
  onTestFinished(() => address.mockRestore())
  const said = async (given: string, type: 'goodbye' | 'welcome') => {
    const client = new RawClient(url)
    client.send({ ...HELLO, token: given })
    const message = await client.said(type)
    client.socket.destroy()
    return message
  }
  for (let times = 0; times < 5; times++) expect(await said(wrong, 'goodbye')).toMatchObject({ code: 'AUTH_FAILED' })
  expect(await said(wrong, 'goodbye')).toMatchObject({ code: 'BUSY', retryAfterMs: 30_000 })
  await said(token, 'welcome')
  await clock.advance('30s')
  expect(await said(wrong, 'goodbye')).toMatchObject({ code: 'AUTH_FAILED' })
})

test('a version that the server does not speak: VERSION_MISMATCH, for good', async () => {
  const { url } = await serve()
  const client = new RawClient(url)
  client.send({ ...HELLO, versions: [7, 9] })
  expect(await client.said('goodbye')).toMatchObject({ code: 'VERSION_MISMATCH', retryAfterMs: -1 })
  await client.gone()
})

test('a client of later versions that still speaks this one is welcomed', async () => {
  const { url } = await serve()
  const client = new RawClient(url)
  client.send({ ...HELLO, versions: [1, 9] })
  expect(await client.said('welcome')).toMatchObject({ version: 1 })
})

test('no greeting within 5 s: goodbye', async () => {
  const { clock, url, server } = await serve()
  const client = new RawClient(url)
  await until(() => server.connections === 1)
  await clock.advance(4_999)
  expect(client.heard).toEqual([])
  await clock.advance(1)
  expect(await client.said('goodbye')).toMatchObject({ code: 'BUSY' })
  await client.gone()
  expect(server.connections).toBe(0)
})

test('a greeting of more than 4 KiB is refused by its length alone', async () => {
  const { url } = await serve()
  const client = new RawClient(url)
  await client.bytes(Uint8Array.of(0, 0, 0x10, 0x01))
  expect(await client.said('goodbye')).toMatchObject({ code: 'FRAME_TOO_LARGE' })
  await client.gone()
})

test('anything else before the greeting, and a second one, end the connection', async () => {
  const { url } = await serve()
  const hasty = new RawClient(url)
  hasty.send({ type: 'requests', requests: [{ id: 1, command: { op: 'stats' } }] })
  expect(await hasty.said('goodbye')).toMatchObject({ code: 'BAD_MESSAGE' })
  const twice = new RawClient(url)
  await twice.bytes(Buffer.concat([encodeMessage(HELLO), encodeMessage(HELLO)]))
  expect(await twice.said('goodbye')).toMatchObject({ code: 'BAD_MESSAGE' })
  await twice.gone()
})

test('an engine that has a lot to say about why it cannot be had is understood, and asked again', async () => {
  const openPort = () => {
    throw new Error('x'.repeat(10_000))
  }
  await using server = await listen({ openPort }, `unix:${join(temporaryFolder(), 'sock')}`)
  await expect(connect(server.url, { connectTimeout: 100 })).rejects.toMatchObject({ code: 'CONNECT_FAILED' })
})

test('more than may wait to greet are told to come back, and come when there is room', async () => {
  const { url, probe } = await serve({ listen: { maxUnauthenticated: 2 } })
  const silent = [new RawClient(url), new RawClient(url)]
  await Promise.all(silent.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve))))
  const third = new RawClient(url)
  expect(await third.said('goodbye')).toMatchObject({ code: 'BUSY', retryAfterMs: 500 })
  for (const client of silent) client.socket.destroy()
  await (await probe()).barrier()
})

test('more connections than there is room for are told so', async () => {
  const { url, server } = await serve({ listen: { maxConnections: 2 } })
  await Promise.all([welcomed(url), welcomed(url)])
  const third = new RawClient(url)
  third.send(HELLO)
  expect(await third.said('goodbye')).toMatchObject({ code: 'BUSY', message: expect.stringContaining('maxConnections') })
  await third.gone()
  expect(server.connections).toBe(2)
})

test('of one network address too', async () => {
  const { url } = await serve({ url: 'tcp://127.0.0.1:0', listen: { maxConnectionsPerAddress: 1 } })
  await welcomed(url)
  expect(await new RawClient(url).said('goodbye')).toMatchObject({
    code: 'BUSY',
    message: expect.stringContaining('maxConnectionsPerAddress'),
  })
})
