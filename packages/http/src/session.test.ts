/** Sessions of browsers, over the API. */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { SCOPES, type Scope } from '@millrace/core'
import { type Engine, openEngine } from '@millrace/engine'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Caller } from './access/caller.ts'
import type { AuditEntry } from './audit.ts'
import { createHttp } from './createHttp.ts'
import type { HttpOptions } from './options.ts'
import { TOKEN, testApi } from './testing/api.ts'

let engine: Engine
beforeAll(async () => {
  engine = await openEngine({ file: ':memory:' })
})
afterAll(() => engine.stop())

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const HOUR = 3_600_000
/** As a browser sends a call of a page of the same origin, with no token in the header. */
const PAGE = { authorization: '', 'sec-fetch-site': 'same-origin' }

async function follow(http: ReturnType<typeof testApi>, cookie: string) {
  const response = await http.open('GET', '/v1/events', { headers: { ...PAGE, cookie } })
  expect(response.status).toBe(200)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  onTestFinished(() => void reader.cancel())
  await reader.read()
  return reader
}

async function over(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  for (;;) if ((await reader.read()).done) return
}

const cookieIn = (headers: Headers) => headers.get('set-cookie')?.split(';')[0] ?? ''

function sessionApi(options: HttpOptions = { token: TOKEN }) {
  const http = testApi(engine, options)
  const logIn = (token = TOKEN, env?: unknown) => http.send('POST', '/v1/session', { headers: PAGE, body: { token }, env })
  const as = (cookie: string, method = 'GET', path = '/v1/session', body?: unknown) =>
    http.send(method, path, { headers: { ...PAGE, cookie }, ...(body !== undefined && { body }) })
  return { http, logIn, as, loggedIn: async (token?: string) => cookieIn((await logIn(token)).headers) }
}

test('M11: a token is given once, and its cookie then does what it may', async () => {
  const { http, logIn, as } = sessionApi({ token: [{ token: TOKEN, scopes: ['read', 'enqueue'], name: 'ops' }] })
  const began = await logIn()
  expect(began).toMatchObject({ status: 204, body: '' })
  expect(began.headers.get('set-cookie')).toMatch(/^millrace_[0-9a-f]{8}=[\w-]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/)
  const cookie = cookieIn(began.headers)
  expect(await as(cookie)).toMatchObject({ status: 200, body: { name: 'ops', scopes: ['enqueue', 'read'], open: false } })
  expect((await as(cookie, 'GET', '/v1/jobs')).status).toBe(200)
  expect((await as(cookie, 'POST', '/v1/jobs', { job: 'by-cookie' })).status).toBe(201)
  expect(await as(cookie, 'POST', '/v1/queues/default/pause', {})).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  // The same by the token itself.
  expect((await http.send('GET', '/v1/session')).body).toEqual({ name: 'ops', scopes: ['enqueue', 'read'], open: false })
})

test('without a session: 401, as for a token that is missing', async () => {
  const { http, as } = sessionApi()
  for (const cookie of ['', 'a=b', 'millrace_00000000=abc'])
    expect(await as(cookie), cookie).toMatchObject({ status: 401, body: { code: 'AUTH_FAILED' } })
  expect((await http.send('GET', '/v1/jobs', { headers: PAGE })).status).toBe(401)
})

test('a session is ended by removing its cookie, also one that is over', async () => {
  const { http, loggedIn, as } = sessionApi()
  for (const cookie of [await loggedIn(), 'a=b', '']) {
    const ended = await as(cookie, 'DELETE')
    expect(ended.status).toBe(204)
    expect(ended.headers.get('set-cookie')).toMatch(/^millrace_[0-9a-f]{8}=; Max-Age=0; Path=\/; HttpOnly; SameSite=Strict$/)
  }
  expect((await http.send('DELETE', '/v1/session', { token: 'none' })).status).toBe(204)
})

test('a log-out ends the session: its cookie, copies of it, and its streams; other sessions of the token stay', async () => {
  const { http, loggedIn, as } = sessionApi()
  const [ended, kept] = [await loggedIn(), await loggedIn()]
  const [gone, stays] = [await follow(http, ended), await follow(http, kept)]
  http.clock.advance(600_000)
  const renewed = cookieIn((await as(ended)).headers)
  expect((await as(ended, 'DELETE')).status).toBe(204)
  await over(gone)
  for (const cookie of [ended, renewed]) {
    const refused = await as(cookie)
    expect(refused).toMatchObject({ status: 401, body: { code: 'AUTH_FAILED' } })
    expect(refused.headers.get('set-cookie')).toBeNull()
  }
  expect((await as(kept)).status).toBe(200)
  http.clock.advance(15_000)
  expect((await stays.read()).done).toBe(false)
})

describe('a wrong token at the log-in', () => {
  const from = (remoteAddress: string) => ({ incoming: { socket: { remoteAddress } } })

  test('counts by its address, together with those in headers', async () => {
    const warnings: unknown[] = []
    const { http, logIn } = sessionApi({ token: TOKEN, logger: { ...silent, warn: (message: string) => warnings.push(message) } })
    for (let attempt = 0; attempt < 3; attempt++) expect((await logIn('a-wrong-token-here', from('10.2.2.2'))).status).toBe(401)
    for (let attempt = 0; attempt < 2; attempt++)
      expect((await http.send('GET', '/v1/jobs', { token: 'a-wrong-token-here', env: from('10.2.2.2') })).status).toBe(401)
    const blocked = await logIn('a-wrong-token-here', from('10.2.2.2'))
    expect(blocked).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } })
    expect(blocked.headers.get('set-cookie')).toBeNull()
    expect((await logIn('a-wrong-token-here', from('10.2.2.3'))).status).toBe(401)
    expect((await logIn(TOKEN, from('10.2.2.2'))).status).toBe(204)
    expect(warnings).toEqual([expect.stringContaining('wrong tokens')])
  })

  test.each<[string, unknown]>([
    ['none', {}],
    ['an empty one', { token: '' }],
    ['a number', { token: 17 }],
    ['one with a space', { token: `${TOKEN} ` }],
    ['one with a line break', { token: `${TOKEN}\r\nset-cookie: a=b` }],
    ['one that no header can carry', { token: 'schlüssel-schlüssel' }],
    ['one that no cookie can carry', { token: 'x'.repeat(2_049) }],
    ['an unknown key', { token: TOKEN, remember: true }],
    ['no object', [TOKEN]],
  ])('%s is refused, and is not in the answer', async (_what, body) => {
    const answer = await sessionApi().http.send('POST', '/v1/session', { headers: PAGE, body })
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION' } })
    expect(JSON.stringify(answer.body)).not.toMatch(/test-token|schlüssel|xxx/)
  })

  test('it is read as JSON alone', async () => {
    const { http } = sessionApi()
    for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
      expect(
        (await http.send('POST', '/v1/session', { raw: JSON.stringify({ token: TOKEN }), headers: { ...PAGE, 'content-type': type } }))
          .status,
      ).toBe(415)
  })
})

test('the rate of a token counts its sessions and its log-ins', async () => {
  const { logIn, as } = sessionApi({ token: TOKEN, rateLimit: { limit: 2, period: '1h' } })
  const cookie = cookieIn((await logIn()).headers)
  expect([(await as(cookie)).status, (await as(cookie)).status, (await logIn()).status]).toEqual([200, 429, 429])
})

test('a change by cookie is audited as that of its token', async () => {
  const entries: AuditEntry[] = []
  const { loggedIn, as } = sessionApi({ token: [{ token: TOKEN, name: 'ops' }], audit: (entry) => entries.push(entry) })
  await as(await loggedIn(), 'POST', '/v1/engine/resume', {})
  expect(entries).toMatchObject([{ who: 'ops', operation: 'resumeEngine', outcome: 'done' }])
})

describe('a token that is kept elsewhere', () => {
  function store() {
    const known = new Map<string, readonly Scope[]>([['first-token', SCOPES]])
    const authenticate = async (token: string): Promise<Caller | undefined> => {
      const scopes = known.get(token)
      return scopes && { name: token, scopes }
    }
    return { known, ...sessionApi({ authenticate }) }
  }

  test('ends its sessions when it is revoked: that is no guess, and shuts out nobody', async () => {
    const { known, loggedIn, as, http } = store()
    const cookie = await loggedIn('first-token')
    expect((await as(cookie)).status).toBe(200)
    known.delete('first-token')
    for (let attempt = 0; attempt < 20; attempt++) {
      const answer = await as(cookie)
      expect(answer).toMatchObject({ status: 401, body: { code: 'AUTH_FAILED', detail: expect.stringContaining('log in again') } })
      expect(answer.headers.get('set-cookie')).toBeNull()
    }
    expect((await http.send('GET', '/v1/jobs', { token: 'a-wrong-token-here' })).status).toBe(401)
  })

  test('has the scopes that it has now, not those of the log-in', async () => {
    const { known, loggedIn, as } = store()
    const cookie = await loggedIn('first-token')
    known.set('first-token', ['read'])
    expect((await as(cookie)).body).toMatchObject({ scopes: ['read'] })
    expect((await as(cookie, 'POST', '/v1/jobs', { job: 'x' })).status).toBe(403)
  })

  test('ends the stream that its session follows, and no other', async () => {
    const { known, loggedIn, http } = store()
    known.set('other-token', ['read'])
    const [ended, kept] = [await follow(http, await loggedIn('first-token')), await follow(http, await loggedIn('other-token'))]
    known.delete('first-token')
    http.clock.advance(15_000)
    await over(ended)
    // The heartbeats of this one come, and it stays.
    http.clock.advance(15_000)
    for (const beat of [1, 2]) expect(Buffer.from((await kept.read()).value ?? []).toString(), `heartbeat ${beat}`).toBe(':\n\n')
  })
})

test('a stream ends with the cookie that it came with, unless a newer one follows: the reader comes back with that', async () => {
  const { loggedIn, http } = sessionApi()
  const response = await http.open('GET', '/v1/events', { headers: { ...PAGE, cookie: await loggedIn() } })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  http.clock.advance(12 * HOUR)
  for (;;) if ((await reader.read()).done) break
})

test('a session slides: an older cookie is renewed by whatever answers, and a fresh one is not', async () => {
  const { loggedIn, as, http } = sessionApi()
  let cookie = await loggedIn()
  for (const path of ['/v1/session', '/v1/jobs', '/v1/jobs/none', '/metrics']) {
    http.clock.advance(599_999)
    expect((await as(cookie, 'GET', path)).headers.get('set-cookie'), path).toBeNull()
    http.clock.advance(1)
    const renewed = await as(cookie, 'GET', path)
    expect(renewed.headers.get('set-cookie'), path).toMatch(/; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/)
    expect(cookieIn(renewed.headers)).not.toBe(cookie)
    cookie = cookieIn(renewed.headers)
  }
  // The renewed one counts from its renewal.
  http.clock.advance(12 * HOUR - 600_000 - 1)
  expect((await as(cookie)).status).toBe(200)
})

test('a bearer goes before a cookie, whether it is better or worse', async () => {
  const readers = { token: 'token-of-a-dashboard', scopes: ['read'] as const, name: 'reader' }
  const { http, loggedIn } = sessionApi({ token: [{ token: TOKEN, name: 'ops' }, readers] })
  const cookie = await loggedIn()
  http.clock.advance(HOUR)
  const reader = await http.send('GET', '/v1/session', { token: readers.token, headers: { cookie } })
  expect(reader.body).toMatchObject({ name: 'reader' })
  expect(reader.headers.get('set-cookie')).toBeNull()
  expect((await http.send('GET', '/v1/session', { token: 'a-wrong-token-here', headers: { cookie } })).status).toBe(401)
  // Of another scheme: that of a proxy in front, which is no bearer.
  expect((await http.send('GET', '/v1/session', { headers: { authorization: 'Basic dTpw', cookie } })).body).toMatchObject({ name: 'ops' })
})

describe('Secure', () => {
  const secureOf = async (url: string, headers: Record<string, string>) => {
    const { http } = sessionApi()
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ token: TOKEN }) }
    const response = await http.api.fetch(new Request(url, init))
    expect(response.status).toBe(204)
    return response.headers.get('set-cookie')?.endsWith('; Secure')
  }

  test.each<[string, string, Record<string, string>, boolean]>([
    ['TLS here', 'https://jobs.example/v1/session', {}, true],
    ['TLS at a proxy', 'http://jobs.example/v1/session', { origin: 'https://jobs.example', host: 'jobs.example' }, true],
    ['no TLS', 'http://localhost/v1/session', { origin: 'http://localhost', host: 'localhost' }, false],
    ['a program that says nothing', 'http://localhost/v1/session', {}, false],
  ])('%s', async (_what, url, headers, secure) => {
    expect(await secureOf(url, headers)).toBe(secure)
  })

  test('stays when the session is renewed by a request that says nothing of TLS', async () => {
    const { http } = sessionApi()
    const headers = { ...PAGE, origin: 'https://localhost', host: 'localhost' }
    const began = await http.send('POST', '/v1/session', { headers, body: { token: TOKEN } })
    http.clock.advance(HOUR)
    const renewed = await http.send('GET', '/v1/session', { headers: { ...PAGE, cookie: cookieIn(began.headers) } })
    expect(renewed.headers.get('set-cookie')).toMatch(/; Secure$/)
  })
})

test('a secret that is kept opens the cookies of an earlier process; another one has cookies of its own', async () => {
  const [first, second] = ['1', '2'].map((digit) => digit.repeat(32)) as [string, string]
  const cookie = await sessionApi({ token: TOKEN, sessionSecret: first }).loggedIn()
  expect((await sessionApi({ token: TOKEN, sessionSecret: Buffer.from(first) }).as(cookie)).status).toBe(200)
  const other = sessionApi({ token: TOKEN, sessionSecret: second })
  expect((await other.as(cookie)).status).toBe(401)
  // Both of one browser, as for two servers of one host: neither takes the other's place.
  const both = `${cookie}; ${await other.loggedIn()}`
  expect((await other.as(both)).status).toBe(200)
  expect((await sessionApi({ token: TOKEN, sessionSecret: first }).as(both)).status).toBe(200)
})

test('an open API has nobody to log in, and says so', async () => {
  const { http, as } = sessionApi({ open: true })
  expect((await as('')).body).toEqual({ name: 'anyone', scopes: SCOPES, open: true })
  expect(await http.send('POST', '/v1/session', { headers: PAGE, body: { token: TOKEN } })).toMatchObject({
    status: 501,
    body: { code: 'UNSUPPORTED' },
  })
  expect((await as('', 'DELETE')).status).toBe(204)
})

test('a token is not in the answer, nor in what is logged', async () => {
  const lines: unknown[] = []
  const note = (...line: unknown[]) => void lines.push(line)
  const { logIn, as } = sessionApi({
    authenticate: (token) => {
      if (token === TOKEN) throw new Error('the store is down')
      return undefined
    },
    logger: { debug: note, info: note, warn: note, error: note },
  })
  const answers = [await logIn(), await logIn('a-wrong-token-here'), await as('')]
  expect(answers.map(({ status }) => status)).toEqual([500, 401, 401])
  expect(JSON.stringify([answers, lines])).not.toMatch(/test-token-0|a-wrong-token/)
})

test('a body of more than 8 KiB is not read, of a log-in and of a log-out; others may be longer', async () => {
  const { http, loggedIn } = sessionApi()
  const raw = JSON.stringify({ token: TOKEN }).padEnd(8_193)
  const headers = { ...PAGE, 'content-type': 'application/json' }
  const refused = {
    status: 413,
    body: { code: 'TOO_LARGE', limit: 8_192, detail: expect.stringContaining('this operation reads no more') },
  }
  for (const method of ['POST', 'DELETE']) {
    expect(await http.send(method, '/v1/session', { raw, headers })).toMatchObject(refused)
    expect(await http.send(method, '/v1/session', { raw, headers: { ...headers, 'content-length': '8193' } })).toMatchObject(refused)
  }
  expect((await http.send('POST', '/v1/session', { raw: raw.trim().padEnd(8_192), headers })).status).toBe(204)
  const long = JSON.stringify({ job: 'long', data: 'x'.repeat(10_000) })
  expect((await http.send('POST', '/v1/jobs', { raw: long, headers: { ...headers, cookie: await loggedIn() } })).status).toBe(201)
})

test('only session operations read a body before they know who asks, and a small one', () => {
  const { operations } = sessionApi().http
  const anonymous = operations.filter(({ scope, method }) => scope === undefined && method !== 'get')
  expect(anonymous.map(({ path, bodyBytes }) => [path, bodyBytes])).toEqual(Array(2).fill(['/v1/session', 8_192]))
})

test('over a socket: a cookie is set, sent and renewed like any other', async () => {
  const api = createHttp(engine, { token: TOKEN })
  const server = createServer(getRequestListener(api.fetch)).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const ask = async (method: string, path: string, headers: Record<string, string>, body = '') => {
    const { port } = server.address() as AddressInfo
    const outgoing = request({ port, method, path, headers: { ...headers, 'sec-fetch-site': 'same-origin' } })
    outgoing.end(body)
    const [incoming] = await once(outgoing, 'response')
    incoming.resume()
    return { status: incoming.statusCode, cookies: incoming.headers['set-cookie'] as string[] | undefined }
  }
  const began = await ask('POST', '/v1/session', { 'content-type': 'application/json' }, JSON.stringify({ token: TOKEN }))
  expect(began).toMatchObject({ status: 204, cookies: [expect.stringContaining('HttpOnly')] })
  const cookie = began.cookies?.[0]?.split(';')[0] ?? ''
  expect(await ask('GET', '/v1/stats', { cookie: `other=1; ${cookie}` })).toEqual({ status: 200, cookies: undefined })
  expect((await ask('DELETE', '/v1/session', { cookie })).cookies).toEqual([expect.stringContaining('Max-Age=0')])
})
