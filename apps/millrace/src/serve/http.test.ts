/** RELIABILITY 5.2: what bounds a client of HTTP, whoever answers. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { SCHEMA } from '../config/schema/schema.ts'
import { after, every } from './clock.ts'
import { type HttpParts, startHttp } from './http.ts'

vi.mock('./clock.ts', { spy: true })

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const read = (name: string) => readFileSync(new URL(`../../../../test/remote/certificates/${name}`, import.meta.url), 'utf8')
const TLS = { key: read('server.key'), cert: read('server.crt') }
const DEFAULTS = { ...SCHEMA.parse({}).http, port: 0 }

async function started(options: Partial<HttpParts['options']> = {}, parts: Partial<HttpParts> = {}) {
  const server = await startHttp({
    options: { ...DEFAULTS, ...options },
    tls: undefined,
    fetch: async (request) => new Response(`${request.method} ${new URL(request.url).pathname} ${(await request.text()).length}`),
    health: (path) => path === '/healthz',
    anonymousBody: ({ url }) => url.endsWith('/log-in'),
    longRequest: (path) => path === '/import',
    longAnswer: (path) => path === '/events',
    logger: silent,
    ...parts,
  })
  onTestFinished(() => server.close())
  return server
}

/** A client that says what a test wants, and keeps what it hears. */
async function raw(
  url: string,
  text: string,
  localAddress = '127.0.0.1',
): Promise<{ readonly socket: Socket; readonly heard: () => string; readonly closed: Promise<unknown> }> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress })
  onTestFinished(() => void socket.destroy())
  let heard = ''
  socket.on('data', (chunk) => {
    heard += chunk
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return { socket, heard: () => heard, closed: new Promise((resolve) => socket.once('close', resolve)) }
}

const HEAD = 'Host: x\r\nContent-Length: 100\r\n\r\n'

test('answers what the fetch function answers, at a port that was chosen', async () => {
  const { url } = await started()
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d{2,5}$/)
  expect(await (await fetch(`${url}/a?b`, { method: 'POST', body: 'hello' })).text()).toBe('POST /a 5')
})

test('a request that is not whole in time: 408, and the connection is closed', async () => {
  const { url } = await started({ requestTimeout: 100 })
  const client = await raw(url, `POST /a HTTP/1.1\r\n${HEAD}some`)
  await client.closed
  expect(client.heard()).toMatch(/^HTTP\/1\.1 408 /)
})

test('one that is whole may take as long as its answer takes', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { url } = await started({ requestTimeout: 50 }, { fetch: async () => promise.then(() => new Response('late')) })
  const answer = fetch(`${url}/a`, { method: 'POST', body: 'x' })
  const short = await raw(url, `POST /a HTTP/1.1\r\n${HEAD}`)
  // By then the time of both is over.
  await short.closed
  resolve()
  expect(await (await answer).text()).toBe('late')
})

/** A server whose import reports the bytes that it has read, and whose requests are looked at when the test says so. */
async function startedByHand() {
  let bytes = 0
  const server = await started(
    {},
    {
      fetch: async (request) => {
        for await (const chunk of request.body ?? []) bytes += chunk.byteLength
        return new Response(`${bytes} bytes`)
      },
    },
  )
  let look: (() => void) | undefined
  vi.mocked(after).mockImplementation((_, work) => {
    look = work
    return () => {}
  })
  onTestFinished(() => void vi.mocked(after).mockReset())
  const begun = () => expect.poll(() => look).toBeDefined()
  return { ...server, begun, look: () => look?.(), hasRead: (count: number) => expect.poll(() => bytes).toBe(count) }
}

test('an import may take as long as it comes', async () => {
  const { url, begun, look, hasRead } = await startedByHand()
  const client = await raw(url, `POST /import HTTP/1.1\r\n${HEAD}`)
  await begun()
  for (let times = 1; times <= 10; times++) {
    client.socket.write('0123456789')
    await hasRead(times * 10)
    if (times < 10) look()
  }
  await expect.poll(client.heard).toMatch(/^HTTP\/1\.1 200 [\s\S]*100 bytes/)
})

test('an import may not be silent for so long', async () => {
  const { url } = await started({ requestTimeout: 150 })
  const quiet = await raw(url, `POST /import HTTP/1.1\r\n${HEAD}0123`)
  await quiet.closed
  expect(quiet.heard()).toMatch(/^HTTP\/1\.1 408 /)
})

test('a06: an import that falls silent after it was looked at twice is ended all the same', async () => {
  const { url, begun, look, hasRead } = await startedByHand()
  const client = await raw(url, `POST /import HTTP/1.1\r\n${HEAD}`)
  await begun()
  for (let times = 1; times <= 3; times++) {
    client.socket.write('0')
    await hasRead(times)
    look()
  }
  expect(client.heard()).toBe('')
  look()
  await expect.poll(client.heard).toMatch(/^HTTP\/1\.1 408 /)
})

test('HTTP/1.0 needs no Host; HTTP/1.1 does', async () => {
  const { url } = await started()
  const old = await raw(url, 'GET /healthz HTTP/1.0\r\n\r\n')
  await old.closed
  expect(old.heard()).toMatch(/^HTTP\/1\.1 200 [\s\S]*GET \/healthz 0$/)
  const modern = await raw(url, 'GET /healthz HTTP/1.1\r\n\r\n')
  await expect.poll(modern.heard).toMatch(/^HTTP\/1\.1 400 /)
})

test('a head that does not come in time: 408', async () => {
  const { url } = await started({ headersTimeout: 1_000 })
  const client = await raw(url, 'GET /a HTTP/1.1\r\nHost: x\r\nX-Slow: ')
  await client.closed
  expect(client.heard()).toMatch(/^HTTP\/1\.1 408 /)
})

test('a head that is too large: 431', async () => {
  const { url } = await started()
  expect((await fetch(url, { headers: { 'x-a': 'a'.repeat(15_000) } })).status).toBe(200)
  expect((await fetch(url, { headers: { 'x-a': 'a'.repeat(17_000) } })).status).toBe(431)
})

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

/** As many connections as are asked for, each of which says so much. */
function crowd(url: string, count: number, text: string) {
  return Promise.all(Array.from({ length: count }, () => raw(url, text)))
}

describe.each([
  ['half of a head', 'GET /a HTTP/1.1\r\nX'],
  ['nothing', ''],
  ['a request that is answered, and no other', GET('/a')],
  ['half of a log-in', `POST /log-in HTTP/1.1\r\n${HEAD}half`],
])('connections that have said %s', (_, text) => {
  const fetch = async (request: Request) => {
    const { pathname } = new URL(request.url)
    await request.text()
    return new Response(pathname)
  }

  test('give way to newcomers, the longest waiting first: of their own address and of others', async () => {
    const warnings: string[] = []
    const logger = { ...silent, warn: (message: string) => void warnings.push(message) }
    const { url } = await started({ maxConnections: 20 }, { fetch, logger })
    const other = await raw(url, GET('/kept'), '127.0.0.2')
    await expect.poll(other.heard).toContain('/kept')
    const all = []
    // One after the other, so that it is known which waits longest.
    for (let index = 0; index < 30; index++) {
      all.push(...(await crowd(url, 1, text)))
      if (text === GET('/a')) await expect.poll((all.at(-1) as (typeof all)[number]).heard).toContain('/a')
    }
    await Promise.all(all.slice(0, 11).map(({ closed }) => closed))
    for (const address of ['127.0.0.1', '127.0.0.2']) {
      const client = await raw(url, GET('/served'), address)
      await expect.poll(client.heard).toMatch(/^HTTP\/1\.1 200 /)
    }
    expect(all.slice(15).every(({ socket }) => !socket.destroyed)).toBe(true)
    // One connection of another address is no crowd.
    other.socket.write(GET('/again'))
    await expect.poll(other.heard).toContain('/again')
    expect(warnings).toEqual([expect.stringContaining('all HTTP connections are taken')])
  })
})

test('a renewed certificate is shown to new connections, and those that are open stay', async () => {
  const server = await started({}, { tls: TLS })
  const open = async () => {
    const socket = connectTls({ port: Number(new URL(server.url).port), host: '127.0.0.1', rejectUnauthorized: false })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'secureConnect')
    return { socket, cert: socket.getPeerX509Certificate()?.toString().trim() }
  }
  const before = await open()
  expect(before.cert).toBe(TLS.cert.trim())
  server.useCertificate({ key: read('client.key'), cert: read('client.crt') })
  expect((await open()).cert).toBe(read('client.crt').trim())
  before.socket.write('GET /again HTTP/1.1\r\nHost: x\r\n\r\n')
  const [answer] = (await once(before.socket, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /)
  // A key that does not fit changes nothing.
  expect(() => server.useCertificate({ key: TLS.key, cert: read('client.crt') })).toThrow(/key values mismatch/)
  expect((await open()).cert).toBe(read('client.crt').trim())
})

/** More than the system takes for a client that reads nothing. */
const LONG = new Uint8Array(24 * 2 ** 20)

const longAnswers = async (request: Request) => new Response(request.url.endsWith('/long') ? LONG : 'short')

/** A client that says something, and reads when the test says so. */
async function silentClient(url: string, text: string, localAddress = '127.0.0.1') {
  const at = { port: Number(new URL(url).port), host: '127.0.0.1', localAddress, rejectUnauthorized: false }
  const socket: Socket = url.startsWith('https:') ? connectTls(at) : connect(at)
  onTestFinished(() => void socket.destroy())
  let bytes = 0
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await once(socket, url.startsWith('https:') ? 'secureConnect' : 'connect')
  socket.pause()
  socket.write(text)
  const read = async (least: number) => {
    const until = Math.min(LONG.length, bytes + least)
    while (bytes < until) {
      bytes += (socket.read() as Buffer | null)?.length ?? 0
      if (bytes < until) await Promise.race([once(socket, 'readable'), closed.then(() => Promise.reject(new Error('it was closed')))])
    }
    return bytes
  }
  /** Resolves when it is closed, which a client notices only behind what it has yet to read. */
  const gone = () => {
    socket.resume()
    return closed
  }
  return { socket, gone, read }
}

async function statusOf(url: string, path: string): Promise<number> {
  const send = url.startsWith('https:') ? tlsRequest : httpRequest
  const request = send({ host: '127.0.0.1', port: new URL(url).port, path, rejectUnauthorized: false, agent: false }).end()
  const [response] = await once(request, 'response')
  response.resume()
  return response.statusCode
}

describe.each([
  ['plain', undefined],
  ['with TLS', TLS],
])('%s', (_, tls) => {
  test.each([
    ['that have a long answer and read nothing', GET('/long')],
    ['that have sent half of a log-in', `POST /log-in HTTP/1.1\r\n${HEAD}half`],
  ])('twice as many connections as there are places, %s: newcomers are served, and who reads keeps its place', async (_, text) => {
    const fetch = async (request: Request) => {
      await request.text()
      return longAnswers(request)
    }
    const { url } = await started({ maxConnections: 8 }, { tls, fetch })
    const reader = await silentClient(url, GET('/long'))
    await reader.read(1)
    const attackers = []
    for (let index = 0; index < 16; index++) {
      attackers.push(await silentClient(url, text))
      // The system takes more of an answer when much of it is read.
      if (index > 5) await reader.read(2 ** 21)
      if (index % 4 === 3) expect(await statusOf(url, '/short'), `with ${index + 1}`).toBe(200)
    }
    expect(await reader.read(LONG.length)).toBeGreaterThanOrEqual(LONG.length)
    expect(reader.socket.destroyed).toBe(false)
    await Promise.all(attackers.slice(0, 8).map(({ gone }) => gone()))
  })
})

test('an import that still comes and a stream of events keep their places, however many newcomers there are', async () => {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const events = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given
    },
  })
  const send = (text: string) => controller?.enqueue(new TextEncoder().encode(text))
  const { url } = await started(
    { maxConnections: 3 },
    { fetch: async (request) => new Response(request.url.endsWith('/events') ? events : `${(await request.text()).length} bytes`) },
  )
  const [coming, stream] = [await raw(url, `POST /import HTTP/1.1\r\n${HEAD}0123456789`), await raw(url, GET('/events'))]
  send(': here')
  await expect.poll(stream.heard).toContain(': here')
  const newcomers = await crowd(url, 20, 'GET /a HTTP/1.1\r\nX')
  await Promise.all(newcomers.slice(0, 15).map(({ closed }) => closed))
  expect(await statusOf(url, '/a')).toBe(200)
  coming.socket.write('x'.repeat(90))
  send(': still')
  await expect.poll(coming.heard).toMatch(/^HTTP\/1\.1 200 [\s\S]*100 bytes/)
  await expect.poll(stream.heard).toContain(': still')
})

/** Calls what happens every second when the test says so. */
async function startedWithTicks(parts: Partial<HttpParts>) {
  let tick = () => {}
  vi.mocked(every).mockImplementation((_, work) => {
    tick = () => void work()
    return () => {}
  })
  onTestFinished(() => void vi.mocked(every).mockReset())
  const server = await started({}, parts)
  return { ...server, tick: (times: number) => Array.from({ length: times }, () => tick()) }
}

test('an answer of which nothing is read for a minute: the connection is closed; one that is read slowly comes whole', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { url, tick } = await startedWithTicks({
    fetch: async (request) => {
      if (request.url.endsWith('/slow')) await promise
      return longAnswers(request)
    },
  })
  const [slow, reader, silent] = [
    await raw(url, GET('/slow')),
    await silentClient(url, GET('/long')),
    await silentClient(url, GET('/long')),
  ]
  await Promise.all([reader.read(1), once(silent.socket, 'readable')])
  for (let times = 0; times < 3; times++) {
    tick(30)
    // As much as the system holds for it.
    await reader.read(LONG.length / 4)
  }
  tick(1)
  await silent.gone()
  expect(await reader.read(LONG.length)).toBeGreaterThanOrEqual(LONG.length)
  // An answer that is still being made may take its time.
  resolve()
  await expect.poll(slow.heard).toContain('short')
})

test('more unread bytes than all answers may have: the greediest of those that read nothing are closed', async () => {
  const warnings: string[] = []
  const logger = { ...silent, warn: (message: string) => void warnings.push(message) }
  const [large, small] = [new Uint8Array(120 * 2 ** 20), new Uint8Array(60 * 2 ** 20)]
  const { url, tick } = await startedWithTicks({ logger, fetch: async ({ url }) => new Response(url.endsWith('/large') ? large : small) })
  const reader = await silentClient(url, GET('/large'))
  await reader.read(1)
  const stuck = [await silentClient(url, GET('/small')), await silentClient(url, GET('/small'))]
  await Promise.all(stuck.map(({ socket }) => once(socket, 'readable')))
  for (let times = 0; times < 3; times++) {
    await reader.read(2 ** 22)
    tick(1)
  }
  expect(warnings).toEqual([])
  const last = await silentClient(url, GET('/small'))
  await Promise.race(stuck.map(({ gone }) => gone()))
  expect(warnings).toEqual([expect.stringContaining('too much unread')])
  expect([reader.socket.destroyed, last.socket.destroyed]).toEqual([false, false])
})

test('what is being answered keeps its place; beyond all places there is health alone', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let answering = 0
  const { url } = await started(
    { maxConnections: 2 },
    {
      fetch: async (request) => {
        const { pathname } = new URL(request.url)
        if (pathname === '/slow') {
          answering++
          await promise
        }
        return new Response(pathname)
      },
    },
  )
  const slow = await crowd(url, 2, GET('/slow'))
  await expect.poll(() => answering).toBe(2)
  // One of them is pipelined: the connection is answered until the last of its requests is.
  slow[0]?.socket.write(GET('/slow'))
  for (let times = 0; times < 20; times++) {
    const health = await raw(url, GET('/healthz'))
    await health.closed
    expect(health.heard()).toMatch(/^HTTP\/1\.1 200 [\s\S]*\/healthz/)
  }
  const refused = await raw(url, GET('/a'))
  await refused.closed
  expect(refused.heard()).toMatch(/^HTTP\/1\.1 503 [\s\S]*"code":"BUSY"/)
  // Half-open ones take the kept places from each other.
  const crowded = await crowd(url, 40, 'GET /healthz HTTP/1.1\r\nX')
  const health = await raw(url, GET('/healthz'))
  await health.closed
  expect(health.heard()).toMatch(/^HTTP\/1\.1 200 /)
  expect(crowded.some(({ socket }) => !socket.destroyed)).toBe(true)
  resolve()
  for (const { heard } of slow) await expect.poll(heard).toMatch(/^HTTP\/1\.1 200 [\s\S]*\/slow/)
  const served = await raw(url, GET('/a'))
  await expect.poll(served.heard).toMatch(/^HTTP\/1\.1 200 /)
})

test('with TLS, handshakes that are not done give way as well', async () => {
  const { url } = await started({ maxConnections: 10 }, { tls: TLS })
  const shaking = await crowd(url, 15, '')
  await Promise.all(shaking.slice(0, 5).map(({ closed }) => closed))
  for (let times = 0; times < 3; times++) {
    const request = tlsRequest({ host: '127.0.0.1', port: new URL(url).port, path: '/a', rejectUnauthorized: false, agent: false }).end()
    const [response] = await once(request, 'response')
    expect(response.statusCode).toBe(200)
    response.resume()
  }
})

test.each(['0.0.0.0', '::', '192.168.0.1', 'example.com'])('%s needs TLS, unless it is stated', async (host) => {
  await expect(started({ host })).rejects.toMatchObject({ code: 'INSECURE_BIND', message: expect.stringContaining(host) })
})

test('a port in use is told as such', async () => {
  const { url } = await started()
  await expect(started({ port: Number(new URL(url).port) })).rejects.toMatchObject({ code: 'ADDRESS_IN_USE', retryable: true })
})

test.each([false, true])('unread answers are counted here, so the API is told not to; with trustProxy: %s', async (trustProxy) => {
  const { url } = await started(
    { trustProxy },
    { fetch: async (_request, env) => Response.json((env as { countsUnread?: true }).countsUnread) },
  )
  expect(await (await fetch(url)).json()).toBe(true)
})

test('the client’s address: that of the connection, or with trustProxy what the last proxy says', async () => {
  const tell = async (_request: Request, env: unknown) => {
    const { remoteAddress, incoming } = env as { remoteAddress?: string; incoming?: { socket: { remoteAddress: string } } }
    return new Response(remoteAddress ?? incoming?.socket.remoteAddress)
  }
  const headers = { 'x-forwarded-for': '6.6.6.6, 10.0.0.7' }
  const [plain, proxied] = [await started({}, { fetch: tell }), await started({ trustProxy: true }, { fetch: tell })]
  expect(await (await fetch(plain.url, { headers })).text()).toBe('127.0.0.1')
  expect(await (await fetch(proxied.url, { headers })).text()).toBe('10.0.0.7')
  expect(await (await fetch(proxied.url)).text()).toBe('127.0.0.1')
})

test('HTTPS with a key and a certificate, also where others can reach it', async () => {
  const { url } = await started({ host: '0.0.0.0' }, { tls: TLS })
  expect(url).toMatch(/^https:/)
  const request = tlsRequest({ host: '127.0.0.1', port: new URL(url).port, path: '/a', rejectUnauthorized: false, agent: false }).end()
  const [response] = await once(request, 'response')
  expect(response.statusCode).toBe(200)
  response.resume()
})

test('a handshake that is not done in time: the connection is closed', async () => {
  const { url } = await started({ headersTimeout: 50 }, { tls: TLS })
  const [silent, slow] = [await raw(url, ''), await raw(url, '\u0016\u0003\u0001')]
  await Promise.all([silent.closed, slow.closed])
})

test('to close lets a request end, and ends a stream of events at once', async () => {
  const [arrived, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const events = () => new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(': here\n\n')) })
  const server = await started(
    {},
    {
      fetch: async (request) => {
        if (request.url.endsWith('/events')) return new Response(events(), { headers: { 'content-type': 'text/event-stream' } })
        arrived.resolve()
        await answered.promise
        return new Response('late')
      },
    },
  )
  const reader = (await fetch(`${server.url}/events`)).body?.getReader()
  await reader?.read()
  const answer = fetch(`${server.url}/a`)
  await arrived.promise
  const closed = server.close()
  await expect(reader?.read()).rejects.toThrow()
  answered.resolve()
  expect(await (await answer).text()).toBe('late')
  await closed
  await expect(fetch(server.url)).rejects.toThrow()
})
