import {
  BusyError,
  CommitUnknownError,
  DiskFullError,
  EngineStoppedError,
  ERROR_CODES,
  type ErrorCode,
  errorFrom,
  InternalError,
  MillraceError,
  OwnerLostError,
  QueueFullError,
  StorageError,
} from '@millrace/core'
import { type Engine, openEngine } from '@millrace/engine'
import fc from 'fast-check'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runs } from '../../testkit/src/testing/runs.ts'
import { problemOf } from './problem.ts'
import { TOKEN, testApi } from './testing/api.ts'

let engine: Engine
let http: ReturnType<typeof testApi>
beforeAll(async () => {
  engine = await openEngine({ file: ':memory:' })
  http = testApi(engine)
})
afterAll(() => engine.stop())

const JSON_TYPE = { 'content-type': 'application/json' }
const post = (raw: string, headers: Readonly<Record<string, string>> = JSON_TYPE) => http.send('POST', '/v1/jobs', { raw, headers })

describe('bodies that are refused', () => {
  test.each([
    ['unknown keys', '{"job":"a","nope":1}', 'VALIDATION', 'body.nope'],
    ['unknown options', '{"job":"a","options":{"prio":1}}', 'VALIDATION', 'body.options.prio'],
    ['no job', '{}', 'VALIDATION', 'body.job'],
    ['a name with a space', '{"job":"a b"}', 'VALIDATION', 'body.job'],
    ['a name that is long', `{"job":"${'a'.repeat(129)}"}`, 'VALIDATION', 'body.job'],
    ['a time without a zone', '{"job":"a","options":{"runAt":"2030-01-01T00:00:00"}}', 'VALIDATION', 'body.options.runAt'],
    ['a duration that is none', '{"job":"a","options":{"delay":"soon"}}', 'VALIDATION', 'body.options.delay'],
    ['a number that is Infinity', '{"job":"a","data":[{"n":1e400}]}', 'OPTION_RANGE', 'body'],
    ['an integer that would be rounded', '{"job":"a","data":9007199254740993}', 'OPTION_RANGE', 'body'],
    ['infinity', '{"job":"a","options":{"delay":1e999}}', 'OPTION_RANGE', 'body'],
    ['more than 1,000 levels', `{"job":"a","data":${'['.repeat(1_000)}${']'.repeat(1_000)}}`, 'OPTION_RANGE', 'body'],
    ['a mebibyte of [', '['.repeat(2 ** 20), 'OPTION_RANGE', 'body'],
    ['a list', '[]', 'VALIDATION', 'body'],
    ['null', 'null', 'VALIDATION', 'body'],
    ['nothing', ' ', 'MALFORMED', undefined],
    ['half of a body', '{"job":', 'MALFORMED', undefined],
    ['__proto__', '{"job":"a","data":[{"__proto__":{"x":1}}]}', 'FORBIDDEN_KEY', '__proto__'],
    ['__proto__, escaped', '{"job":"a","data":{"\\u005f_proto__":1}}', 'FORBIDDEN_KEY', '__proto__'],
    ['__proto__ as an option', '{"job":"a","options":{"__proto__":{"priority":9}}}', 'FORBIDDEN_KEY', '__proto__'],
    ['constructor', '{"job":"a","data":{"constructor":{"prototype":{"x":1}}}}', 'FORBIDDEN_KEY', 'constructor'],
    ['two that exclude each other', '{"job":"a","options":{"delay":1,"runAt":"2030-01-01T00:00:00Z"}}', 'OPTION_TYPE', 'runAt'],
    ['half of a surrogate pair as a tag', '{"job":"a","options":{"tags":["\\ud800"]}}', 'OPTION_TYPE', 'tags[0]'],
    ['what is out of range', '{"job":"a","options":{"ttl":0}}', 'OPTION_RANGE', 'ttl'],
  ])('%s', async (_what, raw, code, option) => {
    const { status, body } = await post(raw)
    expect(body).toMatchObject({
      status: 400,
      code,
      title: expect.any(String),
      detail: expect.any(String),
      ...(option !== undefined && { option }),
    })
    expect(status).toBe(400)
    expect(({} as { x?: number }).x).toBeUndefined()
  })

  test('what is no UTF-8, by length and in pieces', async () => {
    const raw = Buffer.concat([Buffer.from('{"job":"latin1","data":"'), Buffer.from([0xe9]), Buffer.from('"}')])
    const pieces = () => new Blob([raw]).stream()
    const headers = { ...JSON_TYPE, 'content-length': `${raw.length}` }
    for (const sent of [
      { raw, headers },
      { raw, headers: JSON_TYPE },
      { raw: pieces(), headers: JSON_TYPE },
    ])
      expect(await http.send('POST', '/v1/jobs', sent)).toMatchObject({
        status: 400,
        body: { code: 'MALFORMED', detail: 'the body is not UTF-8' },
      })
    expect((await engine.list({ name: 'latin1' })).jobs).toEqual([])
  })

  test('a word that is no key is taken', async () => {
    expect((await post('{"job":"a","data":{"team":"constructor","constructor":"Ferrari","note":"__proto__"}}')).status).toBe(201)
  })

  test('a deep one is refused, and nothing breaks', async () => {
    expect((await post(`{"job":"a","data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)).status).toBe(400)
  })

  test('of another type: 415', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/json; charset=latin1',
    ])
      expect((await post('{"job":"a"}', { 'content-type': type })).status, type).toBe(415)
    for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/vnd.api+json'])
      expect((await post('{"job":"a"}', { 'content-type': type })).status, type).toBe(201)
  })

  test('too large, by what it says or by what it is: 413', async () => {
    const small = testApi(engine, { token: TOKEN, maxBodyBytes: 1_024 })
    const large = JSON.stringify({ job: 'a', data: 'x'.repeat(2_000) })
    const { status, body } = await small.send('POST', '/v1/jobs', { raw: large, headers: JSON_TYPE })
    expect({ status, body }).toMatchObject({ status: 413, body: { code: 'TOO_LARGE', option: 'maxBodyBytes', limit: 1_024 } })
    expect((await small.send('POST', '/v1/jobs', { raw: large, headers: { ...JSON_TYPE, 'content-length': '2020' } })).status).toBe(413)
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++
        controller.enqueue(new Uint8Array(512).fill(32))
      },
    })
    expect((await small.send('POST', '/v1/jobs', { raw: endless, headers: JSON_TYPE })).status).toBe(413)
    expect(pulled).toBeLessThan(8)
  })

  test('one that does not come: 408, and the connection is given up; nothing waits for it any more', async () => {
    const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) })
    const sending = http.send('POST', '/v1/jobs', { raw: silent, headers: JSON_TYPE })
    while (http.clock.timers === 0) await new Promise((resolve) => setImmediate(resolve))
    http.clock.advance(29_999)
    expect(http.clock.timers).toBe(1)
    http.clock.advance(1)
    const { status, headers, body } = await sending
    expect({ status, body }).toMatchObject({ status: 408, body: { code: 'TOO_SLOW', retryable: true } })
    expect(headers.get('connection')).toBe('close')
    expect(http.clock.timers).toBe(0)
  })

  test('it may be waited for longer', async () => {
    const patient = testApi(engine, { token: TOKEN, bodyTimeout: '2m' })
    const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) })
    const sending = patient.send('POST', '/v1/jobs', { raw: silent, headers: JSON_TYPE })
    while (patient.clock.timers === 0) await new Promise((resolve) => setImmediate(resolve))
    patient.clock.advance(119_999)
    expect(patient.clock.timers).toBe(1)
    patient.clock.advance(1)
    expect(await sending).toMatchObject({ status: 408, body: { detail: expect.stringContaining('120000 ms'), option: 'bodyTimeout' } })
  })

  test('one that breaks off: 400', async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error('reset'))
      },
    })
    expect(await http.send('POST', '/v1/jobs', { raw: broken, headers: JSON_TYPE })).toMatchObject({
      status: 400,
      body: { code: 'INCOMPLETE' },
    })
  })

  test('whatever comes, it is never a 500, and never an object with another prototype', async () => {
    const before = (await engine.stats()).totals.enqueued
    let created = 0
    const job = fc.record(
      {
        job: fc.oneof(fc.constantFrom('a', 'b.c', 'd:e'), fc.string(), fc.anything()),
        data: fc.jsonValue(),
        options: fc.oneof(
          fc.dictionary(
            fc.constantFrom('delay', 'runAt', 'priority', 'timeout', 'tags', 'unique', 'debounce', 'ttl', 'backoff', 'meta', 'nope'),
            fc.jsonValue(),
          ),
          fc.record({ delay: fc.integer(), priority: fc.integer(), ttl: fc.integer() }, { requiredKeys: [] }),
          fc.jsonValue(),
        ),
      },
      { requiredKeys: [] },
    )
    const text = fc.oneof(
      job.map((value) => JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? `${inner}` : inner)) ?? ''),
      fc.json(),
      fc.string(),
    )
    const id = (await post('{"job":"fuzzed","options":{"delay":"1h","queue":"fuzzed"}}')).body.id
    const route = fc.constantFrom(
      ...['/v1/jobs', '/v1/jobs:bulk', '/v1/flows', '/v1/jobs:redrive', '/v1/jobs:cancel', `/v1/jobs/${id}/cancel`].map(
        (path) => ['POST', path] as const,
      ),
      ...['pause', 'resume', 'drain', 'purge'].map((word) => ['POST', `/v1/queues/fuzzed/${word}`] as const),
      ['PUT', '/v1/queues/fuzzed'] as const,
      ['PUT', '/v1/schedules/fuzzed'] as const,
      ['PATCH', `/v1/jobs/${id}`] as const,
    )
    await fc.assert(
      fc.asyncProperty(text, route, async (raw, [method, path]) => {
        const { status } = await http.send(method, path, { raw, headers: JSON_TYPE })
        expect([200, 201, 202, 204, 400, 409]).toContain(status)
        if (status === 201 && path.startsWith('/v1/jobs')) created++
      }),
      { numRuns: runs(600) },
    )
    expect((await engine.stats()).totals.enqueued - before).toBeGreaterThanOrEqual(created)
  }, 60_000)
})

test('whatever is in a path or a query, it is never a 500', async () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom('%00', '%', '..', '%2e%2e', '%2F', '%F0', ':', '{id}', 'a'.repeat(300)))
  const route = fc.constantFrom(
    '/v1/jobs/?',
    '/v1/queues/?',
    '/v1/schedules/?',
    '/v1/jobs?search=?',
    '/v1/jobs?after=?',
    '/v1/jobs?tag=?',
    '/v1/?',
    '/v1/history?from=?',
    '/v1/events?after=x?',
  )
  await fc.assert(
    fc.asyncProperty(route, piece, async (template, text) => {
      const at = template.lastIndexOf('?')
      const { status } = await http.send('GET', `${template.slice(0, at)}${text}`.replaceAll('#', ''))
      expect([200, 400, 404, 405]).toContain(status)
    }),
    { numRuns: runs(400) },
  )
}, 60_000)

describe('what is wrong is said in the words of the library', () => {
  const detailOf = async (method: string, path: string, body?: unknown) =>
    (await http.send(method, path, body === undefined ? {} : { body })).body.detail as string

  test.each<[unknown, string]>([
    [{ job: 'x', delay: '5m' }, 'body.delay belongs in options: { "options": { "delay": … } }'],
    [{ job: 'x', attempts: 3 }, "body.attempts is unknown: did you mean 'options.maxAttempts'? It counts the first attempt too"],
    [{ name: 'x' }, 'body.job is missing: it must be a string'],
    [{ job: 'x', payload: 1 }, "body.payload is unknown: did you mean 'data'?"],
    [{ job: 'x', options: { dealy: 1 } }, "body.options.dealy is unknown: did you mean 'delay'?"],
    [{ job: 'x', options: { retries: 3 } }, "body.options.retries is unknown: did you mean 'maxAttempts'? It counts the first attempt too"],
    [
      { job: 'x', options: { repeat: {} } },
      'body.options.repeat is unknown: a recurring job is a schedule: create one with schedules.upsert',
    ],
    [{ job: 'x', options: { unique: { kee: 'a' } } }, "body.options.unique.kee is unknown: did you mean 'key'?"],
    [
      { job: 'x', options: { delay: '5 minutes' } },
      `body.options.delay must be a duration: milliseconds, '5m' (ms, s, m, h, d, w) or { minutes: 5 }, got "5 minutes"`,
    ],
    [{ job: 'x', options: { delay: null } }, 'body.options.delay must be a duration'],
    [{ job: 'x', options: { runAt: 'tomorrow' } }, 'must be a time in ISO 8601 with its zone (2026-01-31T12:00:00Z), got "tomorrow"'],
    [{ job: 5 }, 'body.job must be a string, got 5'],
    [{ job: 'a b' }, 'body.job must have 1 to 128 of the characters'],
    [[], 'body must be an object, got an array'],
    [{ job: 'x', options: { priority: 'high' } }, 'body.options.priority must be a number, got "high"'],
    [{ job: 'x', options: { maxAttempts: 0 } }, 'body.options.maxAttempts must be at least 1, got 0'],
    [{ job: 'x', options: { maxAttempts: 1.5 } }, 'body.options.maxAttempts must be a whole number, got 1.5'],
    [{ job: 'x', options: { tags: 'a' } }, 'body.options.tags must be an array, got "a"'],
    [{ job: 'x', options: { tags: [''] } }, 'body.options.tags.0 must have at least 1 characters, got 0'],
    [
      { job: 'x', options: { backoff: { type: 'fxed', delay: 1 } } },
      'must be "exponential" or "linear" or "fixed", got "fxed"; did you mean "fixed"?',
    ],
    [{ job: 'x', options: { backoff: { type: 'fixed', delay: 1, jitter: 2 } } }, 'body.options.backoff.jitter must be'],
  ])('%j', async (body, detail) => {
    expect(await detailOf('POST', '/v1/jobs', body)).toContain(detail)
  })

  test('in lists, queries and other places, too', async () => {
    expect(await detailOf('POST', '/v1/jobs:bulk', [{ job: 'a' }, { job: 'a', ttl: 5 }])).toContain('body.1.ttl belongs in options')
    expect(await detailOf('POST', '/v1/flows', { nodes: [{ ref: 'a', job: 'a', tags: ['x'] }] })).toContain(
      'body.nodes.0.tags belongs in options',
    )
    expect(await detailOf('PUT', '/v1/queues/q', { limiter: {} })).toContain("body.limiter is unknown: did you mean 'rateLimit'?")
    expect(await detailOf('PUT', '/v1/queues/q', { rateLimit: { max: 1, duration: 1 } })).toContain(
      'body.rateLimit.limit is missing: it must be a number',
    )
    expect(await detailOf('PUT', '/v1/queues/q', { rateLimit: { limit: 1, duration: 1 } })).toContain("did you mean 'period'?")
    expect(await detailOf('PUT', '/v1/schedules/s', { pattern: '* * * * *', job: 'a' })).toContain(
      "body.pattern is unknown: did you mean 'cron'?",
    )
    expect(await detailOf('GET', '/v1/jobs?state=dead')).toContain('did you mean "failed"?')
    expect(await detailOf('GET', '/v1/jobs?limit=1000')).toBe('query.limit must be a whole number between 1 and 200')
    expect(await detailOf('GET', '/v1/jobs?stat=failed')).toBe("query.stat is unknown: did you mean 'state'?")
    expect(await detailOf('GET', '/v1/jobs?tag=a&tag=b')).toBe('query.tag is given twice')
    expect(await detailOf('GET', '/v1/workers?x=1')).toBe('query.x is unknown: this operation takes no query')
  })

  test('whatever is wrong, no sentence is that of the library that checks it', async () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom(null, -1, 1e308, '', 'x', [], {}, true))
    const options = fc.dictionary(
      fc.constantFrom('delay', 'runAt', 'priority', 'timeout', 'tags', 'unique', 'debounce', 'throttle', 'ttl', 'backoff', 'meta', 'queue'),
      value,
    )
    await fc.assert(
      fc.asyncProperty(options, value, async (given, job) => {
        for (const body of [{ job: 'a', options: given }, { job }, { job: 'a', options: job }]) {
          const { status, body: answer } = await http.send('POST', '/v1/jobs', { body })
          if (status === 400) expect(JSON.stringify(answer)).not.toMatch(/Invalid |Too (?:small|big)|expected|Unrecognized|pattern/)
        }
      }),
      { numRuns: runs(150) },
    )
  }, 60_000)
})

describe('paths', () => {
  test('that are not there: 404; with another method: 405 and which', async () => {
    expect(await http.send('GET', '/v1/nothing')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
    for (const path of ['/v1', '/v1/jobs/', '/v1/jobs:nope', '/v1/jobsX', '//v1/jobs', '/v1/%2e%2e/jobs:nope'])
      expect((await http.send('GET', path)).status, path).toBe(404)
    for (const [method, path, allow] of [
      ['PUT', '/v1/jobs', 'GET, HEAD, POST'],
      ['GET', '/v1/jobs:bulk', 'POST'],
      ['POST', '/v1/jobs/x', 'GET, HEAD, PATCH, DELETE'],
    ] as const) {
      const answer = await http.send(method, path)
      expect(answer).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED' } })
      expect(answer.headers.get('allow')).toBe(allow)
    }
  })

  test('the address alone is a page with links, to places that are there', async () => {
    for (const basePath of ['', '/queue']) {
      const at = testApi(engine, { token: TOKEN, basePath })
      const page = await at.open('GET', `${basePath}/`, { headers: { authorization: '' } })
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      const links = [...(await page.text()).matchAll(/href="([^"]+)"/g)].map(([, link]) => link as string)
      expect(links).toContain(`${basePath}/docs`)
      for (const link of links) expect([link, (await at.open('GET', link)).status]).toEqual([link, 200])
    }
    await http.send('GET', '/')
  })

  test('a queue with ended jobs is not deleted: the answer names purge', async () => {
    const ended = await engine.enqueue('ended', 1, { queue: 'ended' })
    await engine.cancel(ended.id)
    const refused = await http.send('DELETE', '/v1/queues/ended')
    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: 'QUEUE_NOT_EMPTY',
        queue: 'ended',
        jobs: 1,
        detail: expect.stringContaining('POST /v1/queues/ended/purge with { "dryRun": false }'),
      },
    })
    expect((await http.send('POST', '/v1/queues/ended/purge', { body: { dryRun: false } })).status).toBe(200)
    expect((await http.send('DELETE', '/v1/queues/ended')).status).toBe(204)
  })

  test('HEAD is GET without its body; OPTIONS and other origins are not served', async () => {
    const head = await http.open('HEAD', '/v1/jobs')
    expect([head.status, await head.text()]).toEqual([200, ''])
    const preflight = await http.send('OPTIONS', '/v1/jobs', {
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    expect(preflight.status).toBe(405)
    const cross = await http.send('GET', '/v1/jobs', { headers: { origin: 'https://evil.example' } })
    for (const { headers } of [preflight, cross])
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('mounted below a path', async () => {
    const mounted = testApi(engine, { token: TOKEN, basePath: '/queue/' })
    expect((await mounted.open('GET', '/queue/v1/jobs')).status).toBe(200)
    expect((await mounted.open('GET', '/v1/jobs')).status).toBe(404)
    expect((await mounted.open('POST', '/queue/v1/jobs', { body: { job: 'a' } })).headers.get('location')).toMatch(
      /^\/queue\/v1\/jobs\/[0-9a-f-]{36}$/,
    )
    expect(mounted.api.document().servers).toEqual([{ url: '/queue' }])
    expect((await mounted.open('GET', '/queue/')).status).toBe(200)
    // Hono's mount takes the prefix off.
    const wrong = new Hono().mount('/queue', (request) => mounted.api.fetch(request))
    const lost = await wrong.request('/queue/v1/jobs', { headers: { authorization: `Bearer ${TOKEN}` } })
    expect([lost.status, ((await lost.json()) as { detail: string }).detail]).toEqual([
      404,
      expect.stringContaining(
        "there is nothing at /v1/jobs: the API has the basePath /queue, and the path came without it. Route whole paths: app.all('/queue/*', ...)",
      ),
    ])
    const app = new Hono().all('/queue/*', (c) => mounted.api.fetch(c.req.raw, c.env))
    const headers = { ...JSON_TYPE, authorization: `Bearer ${TOKEN}` }
    expect((await app.request('/queue/v1/jobs', { method: 'POST', headers, body: '{"job":"a"}' })).status).toBe(201)
  })
})

describe('what the engine refuses', () => {
  const answer = async (error: unknown) => {
    const reported: unknown[] = []
    const response = problemOf(error, (what) => `id-${reported.push(what)}`)
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.json(), reported }
  }

  test.each([
    [new BusyError('full', { retryAfter: 2_500 }), 503, '3'],
    [new QueueFullError('full', { queue: 'q', maxLength: 3 }), 503, '1'],
    [new DiskFullError(), 507, '1'],
    [new EngineStoppedError(), 503, '1'],
    [new StorageError('SQLITE_IOERR: INSERT INTO jobs'), 503, '1'],
    [new CommitUnknownError('near "SELECT"'), 503, '1'],
  ])('%s is %i, to be tried again after %s s', async (error, status, retryAfter) => {
    const { body, reported, ...rest } = await answer(error)
    expect(rest).toEqual({ status, retryAfter })
    expect(body).toMatchObject({ status, code: error.code })
    expect(JSON.stringify(body)).not.toMatch(/INSERT|SELECT|SQLITE/)
    expect(reported).toEqual([])
  })

  test('a full disk says how many bytes must be free', async () => {
    const { body } = await answer(errorFrom({ code: 'DISK_FULL', message: 'full', details: { neededBytes: 33_554_432 } }))
    expect(body).toMatchObject({ code: 'DISK_FULL', neededBytes: 33_554_432 })
  })

  const foreign = Object.assign(new Error('at /a/path'), { code: 'JOB_NOT_FOUND', category: 'not-found' })

  test.each([
    new InternalError('SELECT * FROM secrets'),
    new Error('at /a/path'),
    'a text',
    undefined,
    new RangeError('not ours'),
    foreign,
  ])('%s is a 500 with an id, and nothing else', async (error) => {
    expect(await answer(error)).toEqual({
      status: 500,
      retryAfter: null,
      body: { type: 'urn:millrace:problem:internal', title: 'Internal Server Error', status: 500, code: 'INTERNAL', id: 'id-1' },
      reported: [error],
    })
  })

  test('an error of another copy of core that has no category, or one that is not known here, is a 500', async () => {
    for (const category of [undefined, 'of-later']) {
      class Foreign extends MillraceError {}
      const error = Object.defineProperty(new Foreign('JOB_NOT_FOUND', false, 'x'), 'category', { value: category })
      expect((await answer(error)).status).toBe(500)
    }
  })

  test('a class of the application has the status of its code, if a store may throw it', async () => {
    class TokenTaken extends MillraceError {}
    expect((await answer(new TokenTaken('TOKEN_EXISTS', false, 'x'))).status).toBe(409)
  })

  test('details that have a category do not replace that of the class', async () => {
    const error = errorFrom({ code: 'JOB_NOT_FOUND', message: 'x', details: { category: 'conflict', jobId: 'j' } })
    expect(await answer(error)).toMatchObject({ status: 404, body: { jobId: 'j' } })
  })

  test('every code of the catalogue has a status', async () => {
    const unexpected: Partial<Record<ErrorCode, true>> = {}
    for (const code of ERROR_CODES) if ((await answer(errorFrom({ code, message: 'x' }))).status === 500) unexpected[code] = true
    // What opening a file throws, what only handlers, results and sockets see, and what is a bug or a broken codec.
    expect(Object.keys(unexpected).toSorted()).toEqual(
      [
        'ALREADY_OPEN',
        'CODEC',
        'DISCARDED',
        'DRAIN_INCOMPLETE',
        'INTERNAL',
        'JOB_CANCELLED',
        'JOB_EXPIRED',
        'JOB_FAILED',
        'JOB_TIMEOUT',
        'LEASE_LOST',
        'MOVE_REFUSED',
        'FILE_TRUNCATED',
        'FOREIGN_LOG',
        'NOT_A_DATABASE',
        'NOT_WRITABLE',
        'PROTOCOL',
        'RESULT_TIMEOUT',
        'SCHEMA_TOO_NEW',
        'SCHEMA_TOO_OLD',
        'STORE_MOVED',
        'STORE_MOVING',
        'UNSAFE_FILESYSTEM',
        'UNSUPPORTED_RUNTIME',
        'VERSION_MISMATCH',
        'WORKER_LOST',
        'WORKER_STOPPED',
      ].toSorted(),
    )
  })

  test('an engine that was stopped is a 503', async () => {
    const stopped = await openEngine({ file: ':memory:' })
    await stopped.stop()
    expect(await testApi(stopped).send('GET', '/v1/jobs')).toMatchObject({ status: 503, body: { code: 'ENGINE_STOPPED' } })
  })
})

test.each([
  ['POST', '/v1/jobs', 'application/json', '{"job":"a"}'],
  ['POST', '/v1/jobs:import?name=a', 'application/x-ndjson', '1'],
] as const)('a body with a content encoding is not taken for one without: %s %s', async (method, path, type, raw) => {
  const before = (await engine.stats()).totals.enqueued
  for (const encoding of ['gzip', 'br', 'identity, gzip', 'x']) {
    const refused = await http.send(method, path, { raw, headers: { 'content-type': type, 'content-encoding': encoding } })
    expect(refused, encoding).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } })
    expect(refused.headers.get('accept-encoding')).toBe('identity')
  }
  expect((await engine.stats()).totals.enqueued).toBe(before)
  for (const encoding of ['identity', 'Identity'])
    expect((await http.send(method, path, { raw, headers: { 'content-type': type, 'content-encoding': encoding } })).status).toBeLessThan(
      202,
    )
})

test('a lost file is not said to have been taken over: it may have been moved or deleted', async () => {
  const answer = problemOf(new OwnerLostError('/secret/jobs.db-control was moved'), () => 'id')
  const { detail } = (await answer.json()) as { readonly detail: string }
  expect([answer.status, detail]).toEqual([
    503,
    expect.stringMatching(/^another process has taken a file over, or it was moved, deleted or replaced/),
  ])
})
