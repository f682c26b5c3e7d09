import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { getRequestListener } from '@hono/node-server'
import { type Engine, openEngine } from '@millrace/engine'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { SECURITY_HEADERS } from '../answer.ts'
import { createHttp } from '../createHttp.ts'
import type { HttpOptions } from '../options.ts'
import { TOKEN, testApi } from '../testing/api.ts'
import { DASHBOARD, FILES, fileOf, SCRIPT } from '../testing/dashboard.ts'
import { SCREENS } from './serve.ts'

let engine: Engine
beforeAll(async () => {
  engine = await openEngine({ file: ':memory:' })
})
afterAll(() => engine.stop())

const dashboardApi = (options: Partial<HttpOptions> = {}) =>
  testApi(engine, { token: TOKEN, dashboard: DASHBOARD, ...options } as HttpOptions)
const pageOf = (basePath: string) =>
  Buffer.from(FILES.get('/index.html')?.body ?? [])
    .toString()
    .replaceAll('{basePath}', basePath)
const concrete = (path: string) => path.replaceAll(/\{\w+\}/g, 'a%2Fb%20%22%3E%3Cscript%3E')
/** Without a token. */
const plain = { headers: { authorization: '' } }
const ASSET = '/assets/index-1a2b3c.js'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

test('M11: every screen is the page, without a token, and with what the browser may do with it', async () => {
  const http = dashboardApi()
  for (const path of SCREENS) {
    const answer = await http.open('GET', `${concrete(path)}?state=failed&after=1`, plain)
    expect(answer.status, path).toBe(200)
    expect(Object.fromEntries(answer.headers), path).toEqual({
      ...SECURITY_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      'content-length': `${pageOf('').length}`,
      'content-security-policy': POLICY,
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
    })
    expect(await answer.text(), path).toBe(pageOf(''))
  }
})

test('the path that it is mounted at is written into the page, and its files are below that', async () => {
  const http = dashboardApi({ basePath: '/a/queue-1' })
  for (const path of ['/a/queue-1', '/a/queue-1/', '/a/queue-1/jobs/x'])
    expect(await (await http.open('GET', path, plain)).text(), path).toBe(pageOf('/a/queue-1'))
  expect((await http.open('GET', `/a/queue-1${ASSET}`)).status).toBe(200)
  for (const path of ['/', '/jobs', ASSET, '/a/queue-1/a/queue-1/jobs'])
    expect(await http.send('GET', path), path).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
  expect(http.api.routeOf(new Request('http://localhost/a/queue-1/jobs/17'))).toBe('/a/queue-1/jobs/{id}')
  expect(http.api.routeOf(new Request('http://localhost/jobs'))).toBeUndefined()
})

test.each(['/"><script>', "/'", '/a b', '/a;b', '/$&', '/a\n', '//evil.example', 'https://evil.example', '/<', '/{basePath}'])(
  'a basePath of %j is refused, and is so in no page',
  (basePath) => {
    expect(() => dashboardApi({ basePath })).toThrow(expect.objectContaining({ code: 'OPTION_TYPE', option: 'basePath' }))
  },
)

test('nothing that a request says is in the page', async () => {
  const http = dashboardApi()
  const headers = { authorization: '', host: 'evil.example"><script>', 'x-forwarded-host': 'evil.example', 'x-forwarded-prefix': '/evil' }
  expect(await (await http.open('GET', '/jobs/%3Cscript%3E?"><script>', { headers })).text()).toBe(pageOf(''))
})

test('what is no screen and no file is a problem for a program; other methods are refused', async () => {
  const http = dashboardApi()
  for (const path of [
    '/index.html',
    '/jobs/',
    '/jobs/a/b',
    '/nope',
    '/assets',
    '/assets/',
    '/assets/nope.js',
    '/assets/fonts',
    '/assets/__proto__',
    '/assets/constructor',
    '/assets/INDEX-1a2b3c.js',
    '/assets//index-1a2b3c.js',
    '/assets/index-1a2b3c.js/',
    '/assets/index-1a2b3c.js%00.html',
    '/assets/..%2f..%2fetc%2fpasswd',
    '/assets/..%5c..%5cpackage.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/../package.json',
    '/.git/config',
    '/v1',
    '/v1/nope',
  ])
    expect(await http.send('GET', path), path).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
  for (const path of ['/', '/jobs', '/login', ASSET]) {
    const answer = await http.send('POST', path)
    expect(answer, path).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED' } })
    expect(answer.headers.get('allow')).toBe('GET, HEAD')
  }
})

describe('a browser at an address where nothing is', () => {
  const asPerson = { headers: { authorization: '', accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }

  test.each(['/nope', '/jobs/a/b', '/jobs/a/b/', '/index.html', '/v1', '/v2/jobs', '//evil.example', '//evil.example/', '/%3Cscript%3E'])(
    '%s: gets the dashboard, which says so',
    async (path) => {
      const answer = await dashboardApi().open('GET', path, asPerson)
      expect([answer.status, answer.headers.get('content-type'), answer.headers.get('location')]).toEqual([
        404,
        'text/html; charset=utf-8',
        null,
      ])
      expect(await answer.text()).toBe(pageOf(''))
    },
  )

  test.each(['text/html;q=0', 'text/html; q=0.0, application/json', '*/*', 'application/json, text/htmlish'])(
    'a program that accepts %s gets a problem in JSON',
    async (accept) => {
      const answer = await dashboardApi().open('GET', '/nope', { headers: { authorization: '', accept } })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    },
  )

  test('a slash behind an address is taken away', async () => {
    for (const [path, location] of [
      ['/jobs/', '/jobs'],
      ['/jobs//?state=failed', '/jobs?state=failed'],
      ['/queues/mail/', '/queues/mail'],
      ['/docs/', '/docs'],
    ] as const) {
      const answer = await dashboardApi().open('GET', path, { ...asPerson, redirect: 'manual' } as never)
      expect([answer.status, answer.headers.get('location')], path).toEqual([308, location])
    }
    const mounted = await dashboardApi({ basePath: '/queue' }).open('GET', '/queue/jobs/', asPerson)
    expect([mounted.status, mounted.headers.get('location')]).toEqual([308, '/queue/jobs'])
  })

  test('without the dashboard it is a page with links, and outside of the mount too', async () => {
    for (const http of [
      testApi(engine),
      dashboardApi({ basePath: '/queue' }),
      testApi(engine, { token: TOKEN, basePath: '/queue' } as never),
    ]) {
      const answer = await http.open('GET', '/nope', asPerson)
      expect([answer.status, answer.headers.get('content-security-policy')]).toEqual([404, expect.stringContaining("style-src 'sha256-")])
      expect(await answer.text()).toContain('There is nothing at this address.')
    }
  })

  test('below /v1, for another method, and for a program it is a problem in JSON', async () => {
    const http = dashboardApi()
    for (const path of ['/v1/nope', '/v1/jobs/', '/v1/'])
      expect(await http.send('GET', path, asPerson), path).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
    expect(await http.send('POST', '/nope', asPerson)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
  })
})

test('what is elsewhere stays as it is: the API, its document and the page of that', async () => {
  const http = dashboardApi()
  expect((await http.send('GET', '/v1/jobs')).status).toBe(200)
  expect((await http.send('GET', '/v1/jobs', plain)).status).toBe(401)
  expect((await http.send('GET', '/docs', plain)).body).toContain('<code>/v1/jobs</code>')
  expect((await http.send('GET', '/healthz', plain)).body).toEqual({ status: 'ok' })
  expect(Object.keys(http.api.document().paths ?? {})).not.toContain('/')
  const without = testApi(engine)
  expect((await without.send('GET', '/', plain)).body).toContain('<a href="/docs">')
  expect((await without.send('GET', '/jobs', plain)).status).toBe(404)
})

describe('files', () => {
  const get = (headers: Record<string, string>, path = ASSET) =>
    dashboardApi().open('GET', path, { headers: { authorization: '', ...headers } })

  test.each<[string, string | undefined]>([
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['BR', 'br'],
    ['*', 'br'],
    ['*;q=0.1, gzip', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['br;q=0, gzip;q=0.000', undefined],
    ['identity', undefined],
    ['', undefined],
    ['gzip;q=x', undefined],
    ['xbr, sgzip, ;;;,,=,q=1', undefined],
  ])('Accept-Encoding %j is answered as %s', async (accepted, coding) => {
    const answer = await get({ 'accept-encoding': accepted })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const decode = { br: brotliDecompressSync, gzip: gunzipSync }[coding ?? ''] ?? ((body: Buffer) => body)
    expect(decode(bytes).toString()).toBe(SCRIPT)
    const security = Object.entries(SECURITY_HEADERS).filter(([name]) => name !== 'cache-control')
    expect(Object.fromEntries(answer.headers)).toEqual({
      ...Object.fromEntries(security),
      'content-type': 'text/javascript; charset=utf-8',
      'content-length': `${bytes.length}`,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      etag: coding === undefined ? '"1a2b3c"' : `"1a2b3c-${coding}"`,
      ...(coding !== undefined && { 'content-encoding': coding }),
    })
  })

  test('one that is not compressed is sent as it is; one whose name does not change is asked for again', async () => {
    const answer = await get({ 'accept-encoding': 'br, gzip' }, '/assets/fonts/icons.svg')
    expect(answer.headers.get('content-encoding')).toBeNull()
    expect(answer.headers.get('cache-control')).toBe('no-cache')
    expect(await answer.text()).toBe('<svg/>')
  })

  test.each<[string, string, number]>([
    ['"1a2b3c"', 'identity', 304],
    ['W/"1a2b3c"', 'identity', 304],
    ['"other", "1a2b3c"', 'identity', 304],
    ['*', 'identity', 304],
    ['"1a2b3c-br"', 'br', 304],
    ['"1a2b3c"', 'br', 200],
    ['"1a2b3c-br"', 'gzip', 200],
    ['1a2b3c', 'identity', 200],
    ['', 'identity', 200],
  ])('If-None-Match %s with %s: %d', async (known, accepted, status) => {
    const answer = await get({ 'if-none-match': known, 'accept-encoding': accepted })
    expect(answer.status).toBe(status)
    if (status === 304) {
      expect(await answer.text()).toBe('')
      expect(answer.headers.get('etag')).toMatch(/^"1a2b3c/)
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  test('the page is never a 304: it is not kept', async () => {
    const answer = await get({ 'if-none-match': '*' }, '/')
    expect([answer.status, answer.headers.get('etag')]).toEqual([200, null])
  })
})

test('HEAD has the headers of GET, and no body: over a socket', async () => {
  const api = createHttp(engine, { token: TOKEN, dashboard: DASHBOARD })
  const server = createServer(getRequestListener(api.fetch)).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const ask = async (method: string, path: string) => {
    const outgoing = request({ port: (server.address() as AddressInfo).port, method, path, headers: { 'accept-encoding': 'br' } }).end()
    const [incoming] = await once(outgoing, 'response')
    let bytes = 0
    for await (const chunk of incoming) bytes += chunk.length
    const { date: _date, ...headers } = incoming.headers
    return { status: incoming.statusCode, headers, bytes }
  }
  for (const path of ['/', '/jobs/17', ASSET]) {
    const [got, head] = [await ask('GET', path), await ask('HEAD', path)]
    expect({ ...head, bytes: got.bytes }, path).toEqual(got)
    expect([got.status, got.bytes, head.bytes], path).toEqual([200, Number(got.headers['content-length']), 0])
  }
  for (const path of ['/nope', '/assets/../../package.json', '/assets/%2e%2e/secret', '/assets/..%2fsecret', '//evil.example/assets/'])
    for (const method of ['GET', 'HEAD']) expect(await ask(method, path), path).toMatchObject({ status: 404 })
})

test('pages that are named may show it in a frame', async () => {
  const http = dashboardApi({ dashboard: { files: FILES, frameAncestors: ['self', 'https://*.example.com:8443'] } })
  const { headers } = await http.open('GET', '/', plain)
  expect(headers.get('content-security-policy')).toBe(
    POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self' https://*.example.com:8443"),
  )
  expect(headers.get('x-frame-options')).toBeNull()
  expect((await http.open('GET', ASSET, plain)).headers.get('x-frame-options')).toBe('DENY')
})

test('jobs that it offers to enqueue are in the answer of /v1/info, for those who may read', async () => {
  const sample = { title: 'Try it', job: 'mail', data: { to: '</script>' }, options: { queue: 'slow' } }
  const http = dashboardApi({ dashboard: { files: FILES, samples: [sample, { title: 'Another', job: 'ping' }] } })
  const { samples } = (await http.send('GET', '/v1/info')).body as { samples: unknown }
  expect(samples).toEqual([sample, { title: 'Another', job: 'ping', options: {} }])
  expect((await http.open('GET', '/v1/info', plain)).status).toBe(401)
})

describe('options', () => {
  const page = FILES.get('/index.html')
  const withFile = (path: unknown, file: unknown) => ({
    files: new Map([
      ['/index.html', page],
      [path, file],
    ]),
  })

  test.each<[string, unknown, string]>([
    ['no object', true, 'options'],
    ['no files', {}, 'dashboard.files'],
    ['files as an object', { files: { '/index.html': page } }, 'dashboard.files'],
    ['no page', { files: new Map() }, 'dashboard.files'],
    ['a page without the marker', { files: new Map([['/index.html', fileOf('<!doctype html>')]]) }, 'dashboard.files'],
    ['an unknown option', { files: FILES, name: 'x' }, 'name'],
    ...['/other.html', 'assets/a.js', '/assets/', '/assets/../a.js', '/assets/a:b', '/assets/*', '/assets/a b.js', 7].map(
      (path): [string, unknown, string] => [`the path ${path}`, withFile(path, page), 'dashboard.files'],
    ),
    ['a body of text', withFile('/assets/a.js', { ...page, body: 'text' }), 'dashboard.files'],
    ['a type with a line break', withFile('/assets/a.js', { ...page, type: 'text/plain\r\nset-cookie: a=b' }), 'dashboard.files'],
    ['a tag without quotes', withFile('/assets/a.js', { ...page, etag: 'abc' }), 'dashboard.files'],
    ['a file that is none', withFile('/assets/a.js', null), 'dashboard.files'],
    ['ancestors as a string', { files: FILES, frameAncestors: 'self' }, 'dashboard.frameAncestors'],
    ...['https://a.example; script-src *', 'https://a.example/path', '*', "'self'", 'javascript:', '', 7].map(
      (origin): [string, unknown, string] => [
        `the ancestor ${origin}`,
        { files: FILES, frameAncestors: ['self', origin] },
        'dashboard.frameAncestors[1]',
      ],
    ),
    ['samples as one', { files: FILES, samples: { title: 'a', job: 'a' } }, 'dashboard.samples'],
    ['too many samples', { files: FILES, samples: Array(11).fill({ title: 'a', job: 'a' }) }, 'dashboard.samples'],
    ['a sample without a title', { files: FILES, samples: [{ title: ' ', job: 'a' }] }, 'dashboard.samples[0].title'],
    ['a sample without a job', { files: FILES, samples: [{ title: 'a' }] }, 'dashboard.samples[0].job'],
    ['a sample with options that are none', { files: FILES, samples: [{ title: 'a', job: 'a', options: 7 }] }, 'options'],
  ])('%s is refused', (_what, dashboard, option) => {
    expect(() => createHttp(engine, { token: TOKEN, dashboard } as HttpOptions)).toThrow(
      expect.objectContaining({ code: 'OPTION_TYPE', option }),
    )
  })

  test('too many ancestors are refused', () => {
    const frameAncestors = Array.from({ length: 101 }, (_, index) => `https://a${index}.example`)
    expect(() => dashboardApi({ dashboard: { files: FILES, frameAncestors } })).toThrow(
      expect.objectContaining({ code: 'OPTION_RANGE', option: 'dashboard.frameAncestors', limit: 100 }),
    )
  })
})
