import type { Engine } from '@millrace/engine'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openInThread } from '../../testkit/src/testing/inThread.ts'
import { Lines } from './requests/lines.ts'
import { TOKEN, testApi } from './testing/api.ts'

let engine: Engine
let http: ReturnType<typeof testApi>
beforeEach(async () => {
  engine = openInThread()
  http = testApi(engine)
  await engine.enqueue('bystander', 'as it was')
})
afterEach(() => engine.stop())

const NDJSON = { 'content-type': 'application/x-ndjson' }
const enqueued = async () => (await engine.stats()).totals.enqueued - 1

describe('lines', () => {
  const split = (bytes: Uint8Array, sizes: readonly number[], maxBytes = 1_000) => {
    const lines = new Lines(maxBytes)
    const out = []
    let at = 0
    for (let chunk = 0; at < bytes.length; chunk++) {
      const size = sizes.length === 0 ? bytes.length : (sizes[chunk % sizes.length] as number)
      out.push(...lines.push(bytes.subarray(at, at + size)))
      at += size
    }
    return [...out, ...lines.end()]
  }

  test('are the same however the bytes come', () => {
    const text = fc
      .array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', '\r', '#x', 'é\u{1F600}')), { maxLength: 30 })
      .map((lines) => lines.join('\n'))
    fc.assert(
      fc.property(text, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }), (whole, sizes) => {
        const bytes = Buffer.from(whole)
        const expected = whole.isWellFormed() ? whole.split('\n') : undefined
        if (expected?.at(-1) === '') expected.pop()
        const lines = split(bytes, sizes)
        expect(lines).toEqual(split(bytes, []))
        if (expected !== undefined) expect(lines.map(({ text }) => text)).toEqual(expected.map((line) => line.replace(/\r$/, '')))
        expect(lines.map(({ number }) => number)).toEqual(lines.map((_, index) => index + 1))
      }),
    )
  })

  test('too long, or not UTF-8, are faults of their own, in a chunk and across chunks', () => {
    const bytes = Buffer.concat([
      Buffer.from('a\n'),
      Buffer.from('x'.repeat(20)),
      Buffer.from('\nb\n'),
      Buffer.from([0xff, 0x0a]),
      Buffer.from('é'.repeat(6)),
      Buffer.from('\nc'),
    ])
    for (const sizes of [[], [1], [3], [7, 2]]) {
      const lines = split(bytes, sizes, 10)
      expect(lines.map(({ text, fault }) => text ?? fault)).toEqual([
        'a',
        'the line has more than 10 bytes (maxLineBytes)',
        'b',
        'the line is not UTF-8',
        'the line has more than 10 bytes (maxLineBytes)',
        'c',
      ])
    }
  })
})

test('N8: one JSON a line; blank ones and comments are skipped, wrong ones told by number', async () => {
  const raw = ['{"n":1}', '', '  ', '# a comment', '{"n":', '{"__proto__":1}', '"text"\r', '5'].join('\n')
  const { status, body } = await http.send('POST', '/v1/jobs:import?name=line&queue=bulk&client=shop', { raw, headers: NDJSON })
  expect(status).toBe(200)
  expect(body).toEqual({
    lines: 8,
    skipped: 3,
    created: 3,
    existing: 0,
    refused: 2,
    errors: [
      { line: 5, code: 'MALFORMED', message: expect.any(String) },
      { line: 6, code: 'FORBIDDEN_KEY', message: expect.stringContaining('__proto__') },
    ],
  })
  const { jobs } = await engine.list({ queue: 'bulk' })
  expect(jobs.map(({ data }) => data)).toEqual([5, 'text', { n: 1 }])
  expect(jobs.every(({ tags, name }) => tags[0] === 'shop' && name === 'line')).toBe(true)
})

test('N8: a text a line', async () => {
  const { body } = await http.send('POST', '/v1/jobs:import?name=line', {
    raw: 'https://a.example\n{"not":"json"}\n#no\n',
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  })
  expect(body).toMatchObject({ lines: 3, created: 2, skipped: 1 })
  expect((await engine.list({ name: 'line' })).jobs.map(({ data }) => data)).toEqual(['{"not":"json"}', 'https://a.example'])
})

test('with a key, what is sent again is created once', async () => {
  const headers = { ...NDJSON, 'idempotency-key': 'file-1' }
  expect((await http.send('POST', '/v1/jobs:import?name=line', { raw: '1\n2\n', headers })).body).toMatchObject({ created: 2, existing: 0 })
  expect((await http.send('POST', '/v1/jobs:import?name=line', { raw: '1\n2\n3', headers })).body).toMatchObject({
    created: 1,
    existing: 2,
  })
  expect(await enqueued()).toBe(3)
})

test('one line that the engine refuses does not stop the others', async () => {
  const small = openInThread({ maxDataBytes: 1_024 })
  const raw = Array.from({ length: 50 }, (_, index) => (index === 30 ? JSON.stringify('x'.repeat(2_000)) : `${index}`)).join('\n')
  const { body } = await testApi(small).send('POST', '/v1/jobs:import?name=line', { raw, headers: NDJSON })
  expect(body).toMatchObject({ created: 49, refused: 1, errors: [{ line: 31, code: 'OPTION_RANGE' }] })
  await small.stop()
})

test('p04: where the engine refuses all behind a line that is wrong, the import ends with that, and no line is blamed for it', async () => {
  const small = openInThread({ maxDataBytes: 1_024 })
  await small.queues.configure('small', { maxLength: 2 })
  // All in one command, which the third line makes a misuse: then line by line, and the fourth finds the queue full.
  const raw = ['1', '2', JSON.stringify('x'.repeat(2_000)), '4', '5'].join('\n')
  const { status, body } = await testApi(small).send('POST', '/v1/jobs:import?name=line&queue=small', { raw, headers: NDJSON })
  expect([status, body.code]).toEqual([503, 'QUEUE_FULL'])
  expect(body.progress).toMatchObject({ lines: 5, created: 2, refused: 1, errors: [{ line: 3, code: 'OPTION_RANGE' }] })
  expect((await small.stats()).totals.enqueued).toBe(2)
  await small.stop()
})

test('N8: how its jobs run is said in the query, and of each', async () => {
  const query =
    'name=line&client=shop&priority=-5&weight=2&maxAttempts=7&maxAge=1h&timeout=90s&heartbeatTimeout=60000&ttl=1d&keep=forever&delay=5m&concurrencyKey=shop'
  expect((await http.send('POST', `/v1/jobs:import?${query}`, { raw: '1\n2', headers: NDJSON })).body).toMatchObject({ created: 2 })
  const { jobs } = await engine.list({ name: 'line' })
  expect(jobs).toHaveLength(2)
  for (const job of jobs) {
    expect(job).toMatchObject({ state: 'scheduled', priority: -5, weight: 2, maxAttempts: 7, concurrencyKey: 'shop', tags: ['shop'] })
    expect(job).toMatchObject({ maxAge: 3_600_000, timeout: 90_000, heartbeatTimeout: 60_000, keep: 3_153_600_000_000 })
    expect((job.expiresAt as Date).getTime() - job.enqueuedAt.getTime()).toBe(86_400_000)
    expect((job.runAt as Date).getTime() - job.enqueuedAt.getTime()).toBe(300_000)
  }
  expect((await engine.list({ name: 'bystander' })).jobs).toMatchObject([{ data: 'as it was', priority: 0 }])
})

test.each([
  'priority=high',
  'priority=99999999999',
  'maxAttempts=0',
  'ttl=0',
  'ttl=soon',
  'keep=ever',
  'delay=-1',
  'concurrencyKey=',
  'prio=1',
])('an import with %s is refused as a whole', async (query) => {
  expect((await http.send('POST', `/v1/jobs:import?name=line&${query}`, { raw: '1', headers: NDJSON })).status).toBe(400)
  expect(await enqueued()).toBe(0)
})

test('a line with a number that would change is refused, and the others go on', async () => {
  const { body } = await http.send('POST', '/v1/jobs:import?name=line', { raw: '1e400\n1\n[9007199254740993]', headers: NDJSON })
  expect(body).toMatchObject({
    created: 1,
    refused: 2,
    errors: [
      { line: 1, code: 'OPTION_RANGE' },
      { line: 3, code: 'OPTION_RANGE' },
    ],
  })
})

test('a queue that is full ends it, and how far it came is told', async () => {
  await engine.queues.configure('small', { maxLength: 1_500 })
  const raw = Array.from({ length: 3_000 }, (_, index) => `${index}`).join('\n')
  const { status, body } = await http.send('POST', '/v1/jobs:import?name=line&queue=small', { raw, headers: NDJSON })
  expect(status).toBe(503)
  expect(body).toMatchObject({ code: 'QUEUE_FULL', progress: { created: 1_000 } })
  expect(await enqueued()).toBe(1_000)
})

test('of another type, or with a name that is none, nothing is read', async () => {
  for (const type of ['application/json', 'application/x-www-form-urlencoded'])
    expect((await http.send('POST', '/v1/jobs:import?name=line', { raw: '1', headers: { 'content-type': type } })).status).toBe(415)
  for (const query of ['', '?name=a+b', '?name=a&nope=1', '?name=a&client='])
    expect((await http.send('POST', `/v1/jobs:import${query}`, { raw: '1', headers: NDJSON })).status, query).toBe(400)
  expect(await enqueued()).toBe(0)
})

const encoder = new TextEncoder()

test('100,000 lines: no more is read than is stored, and memory stays where it is', async () => {
  const lines = 100_000
  let sent = 0
  let ahead = 0
  const raw = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // A question is answered behind all that was asked before it: what is stored by now.
        ahead = Math.max(ahead, sent - (await enqueued()))
        if (sent >= lines) return controller.close()
        let text = ''
        for (const end = sent + 500; sent < end; sent++) text += `{"number":${sent},"pad":"${'x'.repeat(200)}"}\n`
        controller.enqueue(encoder.encode(text))
      },
    },
    { highWaterMark: 0 },
  )
  const { status, body } = await http.send('POST', '/v1/jobs:import?name=line', { raw, headers: NDJSON })
  expect({ status, body }).toMatchObject({ status: 200, body: { lines, created: lines, refused: 0 } })
  expect(await enqueued()).toBe(lines)
  // One command on its way, one that is made, and a chunk that was read.
  expect(ahead).toBeGreaterThan(0)
  expect(ahead).toBeLessThanOrEqual(2_500)
}, 60_000)

test('broken off in the middle: what was stored stays, nothing of half a line, and the reader is let go', async () => {
  const aborting = new AbortController()
  let cancelled = false
  let pulls = 0
  const raw = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulls++
        if (pulls <= 5) controller.enqueue(encoder.encode(Array.from({ length: 1_000 }, (_, index) => `${index}\n`).join('')))
        else if (pulls === 6) {
          controller.enqueue(encoder.encode('123'))
          aborting.abort(new Error('gone'))
        }
      },
      cancel() {
        cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  const response = await http.open('POST', '/v1/jobs:import?name=line', { raw, headers: NDJSON, signal: aborting.signal })
  expect(response.status).toBe(400)
  const { code, progress } = (await response.json()) as { code: string; progress: { created: number } }
  expect(code).toBe('INCOMPLETE')
  expect(await enqueued()).toBe(progress.created)
  expect(progress.created % 1_000).toBe(0)
  expect(cancelled || pulls === 6).toBe(true)
  expect((await engine.list({ name: 'bystander' })).jobs).toMatchObject([{ data: 'as it was' }])
})

test.for([
  ['after 30 s', {}, 30_000],
  ['after bodyTimeout', { bodyTimeout: '2m' }, 120_000],
] as const)('a sender that falls silent is given up: %s', async ([, options, ms]) => {
  const http = testApi(engine, { token: TOKEN, ...options })
  let pulls = 0
  let cancelled = false
  const raw = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (++pulls > 1) return new Promise(() => {})
      return controller.enqueue(encoder.encode('1\n2\n'))
    },
    cancel() {
      cancelled = true
    },
  })
  const sending = http.send('POST', '/v1/jobs:import?name=line', { raw, headers: NDJSON })
  while (pulls < 2 || http.clock.timers === 0) await new Promise((resolve) => setImmediate(resolve))
  http.clock.advance(ms - 1)
  expect(http.clock.timers).toBe(1)
  http.clock.advance(1)
  expect(await sending).toMatchObject({ status: 408, body: { code: 'TOO_SLOW', progress: { lines: 2 } } })
  expect(cancelled).toBe(true)
  expect(http.clock.timers).toBe(0)
})

test('a body that breaks: the same', async () => {
  let pulls = 0
  const raw = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (++pulls === 1) controller.enqueue(encoder.encode('1\n2\n3'))
      else controller.error(new Error('reset'))
    },
  })
  expect(await http.send('POST', '/v1/jobs:import?name=line', { raw, headers: NDJSON })).toMatchObject({
    status: 400,
    body: { code: 'INCOMPLETE' },
  })
  expect(await enqueued()).toBe(0)
})

test('lines up to the limit, and not one byte more', async () => {
  const small = testApi(engine, { token: TOKEN, maxLineBytes: 1_024 })
  const line = (length: number) => JSON.stringify('x'.repeat(length - 2))
  const { body } = await small.send('POST', '/v1/jobs:import?name=line', {
    raw: `${line(1_024)}\n${line(1_025)}\n${line(1_024)}`,
    headers: NDJSON,
  })
  expect(body).toMatchObject({ created: 2, refused: 1, errors: [{ line: 2, code: 'LINE' }] })
})
