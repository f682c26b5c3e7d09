/** ADR 43: what a browser's request has to say of itself, by a session, by a token and by neither. */
import { type Engine, openEngine } from '@millrace/engine'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { HttpOptions } from '../options.ts'
import { TOKEN, testApi } from '../testing/api.ts'
import { DASHBOARD } from '../testing/dashboard.ts'

let engine: Engine
beforeAll(async () => {
  engine = await openEngine({ file: ':memory:' })
  await engine.enqueue('bystander', 1, { queue: 'bystander', delay: '1h' })
})
afterAll(() => engine.stop())

type Headers = Readonly<Record<string, string>>

/** The credentials of a request; an open API has none. */
type By = 'cookie' | 'bearer' | 'both' | 'open'

const built = new Map<By, ReturnType<typeof build>>()

/** The API of these options; those without any are shared. */
function apiBy(by: By, options?: Partial<HttpOptions>): ReturnType<typeof build> {
  if (options !== undefined) return build(by, options)
  const api = built.get(by) ?? build(by, {})
  built.set(by, api)
  return api
}

async function build(by: By, options: Partial<HttpOptions>) {
  const http = testApi(engine, { ...(by === 'open' ? { open: true } : { token: TOKEN }), ...options } as HttpOptions)
  const begun = by === 'open' ? undefined : await http.send('POST', '/v1/session', { body: { token: TOKEN } })
  const cookie = begun?.headers.get('set-cookie')?.split(';')[0] ?? ''
  const own: Headers = {
    authorization: by === 'bearer' || by === 'both' ? `Bearer ${TOKEN}` : '',
    ...((by === 'cookie' || by === 'both') && { cookie }),
  }
  const send = (method: string, path: string, headers: Headers, sent: { readonly raw?: string; readonly body?: unknown } = {}) =>
    http.send(method, path, { headers: { host: 'localhost', ...own, ...headers }, ...sent })
  return { http, send }
}

const READS = [
  ['GET', '/v1/jobs'],
  ['HEAD', '/v1/stats'],
  ['GET', '/v1/session'],
] as const
const CHANGES = [
  ['POST', '/v1/jobs:cancel', { filter: { all: true } }],
  ['PUT', '/v1/queues/bystander', { concurrencyLimit: 1 }],
  ['PATCH', '/v1/schedules/none', {}],
  ['DELETE', '/v1/queues/none', {}],
] as const

const ORIGINS: readonly (string | undefined)[] = [undefined, 'http://localhost', 'http://localhost:81', 'https://evil.example', 'null']

type Verdict = 'in' | 'out'
/** By a session: reads and changes; the same of an open API. */
type Row = readonly [site: string | undefined, origin: string | undefined, ...verdicts: readonly [Verdict, Verdict, Verdict, Verdict]]

const ROWS: readonly Row[] = [
  // Where Sec-Fetch-Site is sent, the Origin says nothing more.
  ...ORIGINS.flatMap((origin): Row[] => [
    ['same-origin', origin, 'in', 'in', 'in', 'in'],
    ['same-site', origin, 'out', 'out', 'in', 'out'],
    ['cross-site', origin, 'out', 'out', 'in', 'out'],
    ['none', origin, 'in', 'out', 'in', 'in'],
    ['SAME-ORIGIN', origin, 'out', 'out', 'in', 'out'],
    ['same-origin, cross-site', origin, 'out', 'out', 'in', 'out'],
    ['', origin, 'out', 'out', 'in', 'out'],
  ]),
  [undefined, undefined, 'in', 'out', 'in', 'in'],
  [undefined, 'http://localhost', 'in', 'in', 'in', 'in'],
  [undefined, 'https://localhost', 'in', 'in', 'in', 'in'],
  [undefined, 'http://localhost:81', 'out', 'out', 'in', 'out'],
  [undefined, 'http://localhost.evil.example', 'out', 'out', 'in', 'out'],
  [undefined, 'http://evil.example/http://localhost', 'out', 'out', 'in', 'out'],
  [undefined, 'ftp://localhost', 'out', 'out', 'in', 'out'],
  [undefined, 'localhost', 'out', 'out', 'in', 'out'],
  [undefined, 'null', 'out', 'out', 'in', 'out'],
  [undefined, '', 'out', 'out', 'in', 'out'],
]

describe.each(ROWS)('Sec-Fetch-Site %s and Origin %s', (site, origin, cookieReads, cookieChanges, openReads, openChanges) => {
  const headers: Headers = { ...(site !== undefined && { 'sec-fetch-site': site }), ...(origin !== undefined && { origin }) }
  const verdicts: Readonly<Record<By, readonly [Verdict, Verdict]>> = {
    cookie: [cookieReads, cookieChanges],
    open: [openReads, openChanges],
    bearer: ['in', 'in'],
    both: ['in', 'in'],
  }

  test.each(Object.keys(verdicts) as By[])('by %s', async (by) => {
    const { send } = await apiBy(by)
    const [reads, changes] = verdicts[by]
    for (const [method, path] of READS) expect((await send(method, path, headers)).status, path).toBe(reads === 'in' ? 200 : 403)
    for (const [method, path, body] of CHANGES) {
      const { status, body: answer } = await send(method, path, headers, { body })
      if (changes === 'in') expect([200, 201, 204, 404], path).toContain(status)
      else expect([status, answer.code], path).toEqual([403, 'CROSS_SITE'])
    }
    const { states } = await engine.stats()
    expect(states.scheduled, 'the bystander').toBe(changes === 'in' ? 0 : 1)
  })

  // What one of them was allowed to do to the bystander is none of the next one's.
  beforeEach(async () => {
    await engine.deleteMany({ all: true })
    await engine.enqueue('bystander', 1, { queue: 'bystander', delay: '1h' })
  })
})

describe('log-in and log-out', () => {
  test.each<[Headers, boolean]>([
    [{}, true],
    [{ 'sec-fetch-site': 'same-origin' }, true],
    [{ origin: 'http://localhost' }, true],
    [{ 'sec-fetch-site': 'none' }, false],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'cross-site', origin: 'http://localhost' }, false],
    [{ origin: 'http://localhost:81' }, false],
    [{ origin: 'null' }, false],
  ])('%j: %s', async (headers, good) => {
    // Its session ends, so it is no other test's.
    const { send } = await apiBy('cookie', {})
    for (const [method, body] of [['POST', { token: TOKEN }], ['DELETE']] as const) {
      const answer = await send(method, '/v1/session', headers, { body })
      expect(answer.status, method).toBe(good ? 204 : 403)
      expect(answer.headers.get('set-cookie') !== null, method).toBe(good)
    }
  })
})

describe('bodies of a change', () => {
  const OWN = { 'sec-fetch-site': 'same-origin' }

  test.each<[string | undefined, string | undefined, number]>([
    ['application/json', '{}', 200],
    ['application/json; charset=utf-8', '{}', 200],
    [undefined, undefined, 200],
    ['text/plain', '{}', 403],
    ['text/plain; application/json', '{}', 403],
    ['application/x-www-form-urlencoded', '{}', 403],
    ['multipart/form-data; boundary=application/json', '{}', 403],
    ['application/jsonp', '{}', 403],
    ['', '{}', 403],
  ])('of the type %s, as %s: %d by a session', async (type, raw, status) => {
    const { send } = await apiBy('cookie')
    const headers = { ...OWN, ...(type !== undefined && { 'content-type': type }) }
    expect((await send('POST', '/v1/jobs:redrive', headers, raw === undefined ? {} : { raw })).status).toBe(status)
  })

  test('lines are imported by a token, and not by a session', async () => {
    const headers = { ...OWN, 'content-type': 'application/x-ndjson' }
    for (const by of ['cookie', 'bearer'] as const) {
      const { send } = await apiBy(by)
      expect((await send('POST', '/v1/jobs:import?name=line', headers, { raw: '1\n' })).status).toBe(by === 'cookie' ? 403 : 200)
    }
    const { jobs } = await engine.list({ name: 'line' })
    expect(jobs).toHaveLength(1)
  })

  test('a page at another port of the host, as Chromium sends its simple POST', async () => {
    const { send } = await apiBy('cookie')
    const headers = { 'sec-fetch-site': 'same-site', origin: 'http://localhost:5173', 'content-type': 'text/plain' }
    expect(await send('POST', '/v1/engine/stop', headers, { raw: '{}' })).toMatchObject({ status: 403, body: { code: 'CROSS_SITE' } })
  })
})

describe('the host', () => {
  const GET = ['GET', '/v1/jobs'] as const
  /** As Chromium sends them of a page whose name was rebound: http, and no Sec-Fetch-Site. */
  const read = (host: string): Headers => ({ host })
  const change = (host: string): Headers => ({ host, origin: `http://${host}` })
  const OWN_NAMES = [
    'localhost',
    'LOCALHOST:8080',
    'localhost.',
    'queue.localhost:1',
    '127.0.0.1',
    '127.1.2.3:80',
    '[::1]:7410',
    '10.0.0.7',
    '[fd00::7]:80',
  ]
  const OTHERS = [
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    'notlocalhost',
    '127.0.0.1.evil.example',
    'evil.example@localhost',
    'localhost@evil.example',
    'localhost/evil.example',
    'evil.example#localhost',
    'local host',
    '',
    ':80',
    'xn--80ak6aa92e.com',
    '[::1].evil.example',
    'localhost,evil.example',
  ]

  const verdict = async (options: Partial<HttpOptions>, by: By, headers: Headers, [method, path]: readonly [string, string] = GET) => {
    const { send } = await apiBy(by, options)
    const { status, body } = await send(method, path, headers)
    return status === 403 ? body.code : status
  }

  test.each([
    ['alone', {}],
    ['with a dashboard', { dashboard: DASHBOARD }],
  ])('an open API %s: addresses, this machine and no other name, whatever is asked', async (_what, options) => {
    for (const host of OWN_NAMES) expect(await verdict(options, 'open', read(host)), host).toBe(200)
    for (const host of OTHERS)
      for (const headers of [read(host), change(host), { host, 'sec-fetch-site': 'same-origin' }])
        expect(await verdict(options, 'open', headers), JSON.stringify(headers)).toBe('HOST_NOT_ALLOWED')
    const { http } = await apiBy('open', options)
    const asked = http.operations.filter(({ scope }) => scope !== undefined)
    for (const { id, method, path } of asked) {
      const { body } = await http.send(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x'), { headers: { host: 'evil.example' } })
      expect(body.code, id).toBe('HOST_NOT_ALLOWED')
    }
  })

  test('names that are allowed, whoever serves them', async () => {
    const allowedHosts = ['jobs.example.com', '*.Internal.example']
    for (const options of [{ allowedHosts }, { allowedHosts, dashboard: DASHBOARD }])
      for (const by of ['open', 'cookie', 'bearer'] as const) {
        const of = (host: string) => verdict(options, by, { host, 'sec-fetch-site': 'same-origin' })
        for (const host of ['jobs.example.com', 'JOBS.example.com:443', 'jobs.example.com.', 'a.b.internal.example', ...OWN_NAMES])
          expect(await of(host), host).toBe(200)
        for (const host of ['example.com', 'a.jobs.example.com', 'internal.example', 'xinternal.example', 'jobs.example.com.evil.example'])
          expect(await of(host), host).toBe('HOST_NOT_ALLOWED')
      }
  })

  test("an open API behind a check of its own, under 'any' name: programs, and browsers", async () => {
    const changing = ['POST', '/v1/jobs:redrive'] as const
    const host = 'jobs.example.com'
    for (const headers of [
      { host },
      { host, origin: `http://${host}` },
      { host, origin: `https://${host}` },
      { host, origin: `https://${host}`, 'sec-fetch-site': 'same-origin' },
      // A page of localhost, by a proxy that calls the API under its own name.
      { host: 'backend:8080', origin: 'http://localhost:5173', 'sec-fetch-site': 'same-origin' },
    ])
      for (const call of [GET, changing])
        expect(await verdict({ allowedHosts: 'any' }, 'open', headers, call), JSON.stringify(headers)).toBe(200)
  })

  test('with tokens, any name; a session needs its cookie, which no other name has', async () => {
    for (const by of ['cookie', 'bearer'] as const) expect(await verdict({}, by, read('evil.example'))).toBe(200)
  })

  test('log-ins and log-outs count, pages and probes do not', async () => {
    const { http } = await apiBy('cookie', { allowedHosts: [], dashboard: DASHBOARD })
    const headers = { host: 'evil.example', authorization: '' }
    for (const [method, body] of [['POST', { token: TOKEN }], ['DELETE']] as const)
      expect(await http.send(method, '/v1/session', { headers, body })).toMatchObject({ status: 403, body: { code: 'HOST_NOT_ALLOWED' } })
    for (const path of ['/', '/jobs', '/healthz', '/readyz', '/docs', '/openapi.json'])
      expect((await http.open('GET', path, { headers })).status, path).toBe(200)
  })

  test('without a Host, as over HTTP/2: that of the URL', async () => {
    const { http } = await apiBy('open', { dashboard: DASHBOARD })
    const status = async (url: string) => (await http.api.fetch(new Request(url))).status
    expect([await status('http://localhost/v1/jobs'), await status('http://evil.example/v1/jobs')]).toEqual([200, 403])
  })

  test('the refusal says what to do', async () => {
    const { send } = await apiBy('open', { dashboard: DASHBOARD })
    const { body } = await send('GET', '/v1/jobs', { host: 'jobs.example.com' })
    expect(body.detail).toBe('the host jobs.example.com is not allowed here: if the API is served under this name, add it to allowedHosts')
    expect((await send('GET', '/v1/jobs', { host: 'x'.repeat(10_000) })).body.detail.length).toBeLessThan(400)
  })

  test.each([
    'jobs.example.com',
    ['https://jobs.example.com'],
    ['jobs.example.com:80'],
    ['*'],
    ['*.'],
    ['a..b'],
    ['a b'],
    [''],
    [7],
    ['a', null],
  ])('allowedHosts of %j is refused', (allowedHosts) => {
    expect(() => testApi(engine, { token: TOKEN, allowedHosts } as HttpOptions)).toThrow(
      expect.objectContaining({ code: 'OPTION_TYPE', option: expect.stringMatching(/^allowedHosts(?:\[\d\])?$/) }),
    )
  })
})
