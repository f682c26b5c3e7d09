// Over a socket, as a server of Node hands requests on: bodies by length and in chunks, clients that go away, addresses.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2 } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { type Engine, openEngine } from '@millrace/engine'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HttpApi } from './createHttp.ts'
import { createHttp } from './index.ts'
import { TOKEN } from './testing/api.ts'

let engine: Engine
let server: Server
let api: HttpApi
/** Answers that were made, whether or not a client was there to have them. */
let answered: Response[]
beforeEach(async () => {
  engine = await openEngine({ file: ':memory:' })
  api = createHttp(engine, { token: TOKEN, maxBodyBytes: 4_096 })
  answered = []
  const listener = getRequestListener(async (incoming, env) => {
    const response = await api.fetch(incoming, env)
    answered.push(response.clone())
    return response
  })
  server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await engine.stop()
})

const port = () => (server.address() as AddressInfo).port
const url = (path: string) => `http://127.0.0.1:${port()}${path}`
const AUTH = { authorization: `Bearer ${TOKEN}` }
const JSON_HEADERS = { ...AUTH, 'content-type': 'application/json' }

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks at is its own affair
  readonly body: any
}

/** In pieces, each in a write of its own: without a length they come as chunks. */
function send(
  method: string,
  path: string,
  pieces: readonly string[] = [],
  headers: Record<string, string> = JSON_HEADERS,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url(path), { method, headers }, (incoming) => {
      let text = ''
      incoming.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode, headers: incoming.headers, body: text === '' ? undefined : JSON.parse(text) }),
      )
    })
    outgoing.on('error', reject)
    for (const piece of pieces) outgoing.write(piece)
    outgoing.end()
  })
}

test('a job by length, in chunks, and one without a body', async () => {
  const text = '{"job":"a","data":"é"}'
  expect(await send('POST', '/v1/jobs', [text], { ...JSON_HEADERS, 'content-length': `${Buffer.byteLength(text)}` })).toMatchObject({
    status: 201,
    body: { created: true },
  })
  const chunked = await send('POST', '/v1/jobs', ['{"job":', '"a"', '}'])
  expect(chunked).toMatchObject({ status: 201 })
  expect(chunked.headers['x-content-type-options']).toBe('nosniff')
  const path = `/v1/jobs/${chunked.body.id}`
  expect(await send('POST', `${path}/cancel`, [], { ...AUTH, 'content-length': '0' })).toMatchObject({
    status: 200,
    body: { outcome: 'cancelled' },
  })
  expect(await send('POST', `${path}/retry`, [], AUTH)).toMatchObject({ status: 204 })
  expect(await send('POST', '/v1/jobs', [], AUTH)).toMatchObject({ status: 400 })
  expect(await send('GET', path, [], AUTH)).toMatchObject({ status: 200, body: { state: 'waiting' } })
})

test('a body that may be left out may be left out without a header that says so; another one needs its type', async () => {
  const { id } = await engine.enqueue('a')
  const bystander = await engine.enqueue('b')
  const raw = async (path: string, headers: Record<string, string>, body = '') => {
    const socket = await dial(head(path, { connection: 'close', ...headers }) + body)
    let text = ''
    for await (const part of socket.setEncoding('utf8')) text += part
    return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])
  }
  expect(await raw(`/v1/jobs/${id}/cancel`, {})).toBe(200)
  expect(await raw(`/v1/jobs/${id}/retry`, { 'transfer-encoding': 'chunked' }, '0\r\n\r\n')).toBe(204)
  expect(await raw(`/v1/jobs/${id}/cancel`, { 'transfer-encoding': 'chunked' }, '2\r\n{}\r\n0\r\n\r\n')).toBe(415)
  expect(await raw(`/v1/jobs/${id}/cancel`, { 'content-length': '2' }, '{}')).toBe(415)
  expect(await raw('/v1/jobs', {})).toBe(400)
  expect(await Promise.all([engine.get(id), engine.get(bystander.id)])).toMatchObject([{ state: 'waiting' }, { state: 'waiting', run: 0 }])
})

test('an operation that takes no body is served without one, whatever type is named, and refuses one, by length and in chunks', async () => {
  const [{ id }, other] = [await engine.enqueue('a', 1, { delay: '1h' }), await engine.enqueue('b')]
  const path = `/v1/jobs/${id}`
  const body = '{"dryRun":true}'
  const refused = { status: 400, body: { detail: 'body.dryRun is unknown: this operation takes no body' } }
  expect(await send('DELETE', path, [body], { ...JSON_HEADERS, 'content-length': `${body.length}` })).toMatchObject(refused)
  expect(await send('DELETE', path, [body.slice(0, 5), body.slice(5)], { ...JSON_HEADERS, 'transfer-encoding': 'chunked' })).toMatchObject(
    refused,
  )
  expect(await send('POST', `${path}/run`, [body])).toMatchObject(refused)
  expect(await engine.get(id)).toMatchObject({ state: 'scheduled' })
  expect(await send('POST', `${path}/run`, [], { ...AUTH, 'content-length': '0' })).toMatchObject({ status: 204 })
  expect(await send('DELETE', path, [], { ...AUTH, 'content-type': 'text/plain' })).toMatchObject({ status: 204 })
  expect(await send('DELETE', `/v1/jobs/${other.id}`, [], AUTH)).toMatchObject({ status: 204 })
  expect(await engine.get(id)).toBeUndefined()
})

test('too large, by length and in chunks; the next request is served', async () => {
  const large = JSON.stringify({ job: 'a', data: 'x'.repeat(8_000) })
  expect(await send('POST', '/v1/jobs', [large], { ...JSON_HEADERS, 'content-length': `${large.length}` })).toMatchObject({
    status: 413,
    body: { code: 'TOO_LARGE' },
  })
  expect(await send('POST', '/v1/jobs', [large.slice(0, 5_000), large.slice(5_000)])).toMatchObject({ status: 413 })
  expect(await send('POST', '/v1/jobs', ['{"job":"a"}'])).toMatchObject({ status: 201 })
})

test('an import streams; its length is not that of a body', async () => {
  const pieces = Array.from({ length: 200 }, (_, piece) => Array.from({ length: 50 }, (_, line) => `{"n":${piece * 50 + line}}\n`).join(''))
  const { status, body } = await send('POST', '/v1/jobs:import?name=line', pieces, { ...AUTH, 'content-type': 'application/x-ndjson' })
  expect({ status, body }).toMatchObject({ status: 200, body: { lines: 10_000, created: 10_000 } })
})

const head = (path: string, headers: Record<string, string>) =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${Object.entries({ ...AUTH, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

function dial(text: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port(), '127.0.0.1', () => {
      socket.write(text)
      resolve(socket)
    })
    socket.on('error', () => {})
  })
}

test('a client that goes away in the middle of an import: what was stored stays, and half a line is none', async () => {
  const lines = Array.from({ length: 5_000 }, (_, line) => `${line}\n`).join('')
  const socket = await dial(head('/v1/jobs:import?name=line', { 'content-type': 'application/x-ndjson', 'content-length': '1000000' }))
  const stored = new Promise<void>((resolve) => {
    engine.on('enqueued', ({ seq }) => {
      if (seq >= 3_000) resolve()
    })
  })
  socket.write(`${lines}77`)
  await stored
  socket.destroy()
  while (answered.length === 0) await new Promise((resolve) => setImmediate(resolve))
  const response = answered[0] as Response
  expect(response.status).toBe(400)
  const { progress } = (await response.json()) as { progress: { created: number } }
  expect((await engine.stats()).totals.enqueued).toBe(progress.created)
  expect(progress.created % 1_000).toBe(0)
})

test('a client that goes away in the middle of a body creates nothing', async () => {
  const socket = await dial(head('/v1/jobs', { 'content-type': 'application/json', 'content-length': '20' }))
  await once(server, 'request')
  socket.write('{"job":"a"')
  socket.destroy()
  while (answered.length === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(answered[0]?.status).toBe(400)
  expect((await engine.stats()).totals.enqueued).toBe(0)
})

test('wrong tokens of this machine are 401s, and shut out nobody', async () => {
  const wrong = { ...JSON_HEADERS, authorization: 'Bearer of-somebody-else-entirely' }
  for (let attempt = 0; attempt < 8; attempt++) expect((await send('GET', '/v1/jobs', [], wrong)).status).toBe(401)
  expect((await send('GET', '/v1/jobs', [], AUTH)).status).toBe(200)
})

const GET = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`

/** Counts the answers that are made and that their connection has not taken yet: now, and the most at a time. */
function heldAnswers() {
  const held = { now: 0, most: 0 }
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    response.once('prefinish', () => {
      held.most = Math.max(held.most, ++held.now)
      response.once('close', () => held.now--)
    })
  })
  return held
}

test('requests that come at once are answered one by one, and in order', async () => {
  const held = heldAnswers()
  const paths = ['/readyz', '/nowhere', '/openapi.json', '/docs', '/healthz', '/v1/jobs', '/readyz', '/']
  const last = GET('/healthz', 'connection: close\r\n')
  const socket = await dial([...paths.map((path) => GET(path)), last].join(''))
  let text = ''
  for await (const part of socket.setEncoding('utf8')) text += part
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
  expect(statuses).toEqual([200, 404, 200, 200, 200, 401, 200, 200, 200])
  expect(held).toEqual({ now: 0, most: 1 })
})

test('a connection whose requests wait by the dozen is closed; others are served', async () => {
  const bystander = await dial(GET('/readyz'))
  await once(bystander, 'data')
  const socket = await dial(GET('/openapi.json').repeat(1_600))
  await new Promise((resolve) => socket.resume().once('close', resolve))
  // How many of them were read before it was closed is up to the system.
  await expect.poll(() => answered.length).toBeGreaterThan(18)
  const refused = answered.filter(({ status }) => status !== 200)
  expect(answered.length - refused.length).toBeLessThanOrEqual(2)
  expect(await Promise.all(refused.map(async (response) => [response.status, ((await response.json()) as { code: string }).code]))).toEqual(
    Array(refused.length).fill([503, 'BUSY']),
  )
  bystander.write(GET('/readyz'))
  expect(String(await once(bystander, 'data'))).toMatch(/^HTTP\/1\.1 200 /)
  bystander.destroy()
})

test('an app may ask several things for one request', async () => {
  const twice = createServer(
    getRequestListener(async (incoming, env) => {
      const ask = async (path: string) => (await api.fetch(new Request(new URL(path, incoming.url)), env)).status
      return Response.json([await ask('/readyz'), ...(await Promise.all([ask('/healthz'), ask('/v1/jobs')]))])
    }),
  ).listen(0, '127.0.0.1')
  await once(twice, 'listening')
  const socket = connect((twice.address() as AddressInfo).port, '127.0.0.1')
  socket.setEncoding('utf8').write(`${GET('/')}${GET('/', 'connection: close\r\n')}`)
  let text = ''
  for await (const part of socket) text += part
  expect(text.match(/\[200,200,401\]/g)).toHaveLength(2)
  twice.close()
})

test('streams of one connection of HTTP/2 do not wait for each other', async () => {
  const listener = getRequestListener(api.fetch)
  const modern = createHttp2((request, response) => void listener(request, response)).listen(0, '127.0.0.1')
  await once(modern, 'listening')
  const session = connectHttp2(`http://127.0.0.1:${(modern.address() as AddressInfo).port}`)
  const ask = (path: string) => session.request({ ':path': path, ...AUTH })
  const events = ask('/v1/events')
  await once(events, 'response')
  expect((await once(ask('/readyz').resume(), 'response'))[0][':status']).toBe(200)
  session.destroy()
  modern.close()
})
