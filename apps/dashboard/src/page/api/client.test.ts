import { expect, test } from 'vitest'
import { ManualClock } from '../testing/manualClock.ts'
import { createApi, queryText } from './client.ts'
import { ApiError } from './problem.ts'

function setUp(answer: (url: string, init: RequestInit) => Response | Promise<Response>) {
  const clock = new ManualClock(1_800_000_000_000)
  const calls: { readonly url: string; readonly init: RequestInit }[] = []
  const fetch = async (url: unknown, init: RequestInit = {}) => {
    calls.push({ url: `${url}`, init })
    return answer(`${url}`, init)
  }
  return { clock, calls, api: createApi({ fetch: fetch as typeof globalThis.fetch, clock, basePath: '/queue' }) }
}

test('calls below the path that it is mounted at, with the cookie of the session alone', async () => {
  const { api, calls, clock } = setUp(() => Response.json({ workers: [] }))
  expect(await api.get('/v1/workers')).toEqual({ workers: [] })
  expect(calls[0]).toMatchObject({ url: '/queue/v1/workers', init: { credentials: 'same-origin', cache: 'no-store' } })
  expect(calls[0]?.init.headers).toBeUndefined()
  expect(clock.pending).toBe(0)
})

test('a change is JSON', async () => {
  const { api, calls } = setUp(() => new Response(null, { status: 204 }))
  expect(await api.send('POST', '/v1/queues/a/pause', { job: 'x' })).toBeUndefined()
  expect(calls[0]?.init).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"job":"x"}' })
})

test('a refusal is an ApiError with the code, the message and the time to wait', async () => {
  const problem = {
    type: 'urn:millrace:problem:busy',
    title: 'Service Unavailable',
    status: 503,
    code: 'BUSY',
    detail: 'the mailbox is full',
  }
  const { api } = setUp(() => Response.json(problem, { status: 503, headers: { 'retry-after': '3' } }))
  const error = await api.get('/v1/stats').catch((thrown) => thrown)
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ status: 503, code: 'BUSY', message: 'the mailbox is full', retryAfterMs: 3_000, isDown: true })
})

test('an answer that is no problem, as of a proxy, says its status', async () => {
  const { api } = setUp(() => new Response('<html>Bad gateway</html>', { status: 502, statusText: 'Bad Gateway' }))
  await expect(api.get('/v1/stats')).rejects.toMatchObject({ status: 502, code: '', message: '502 Bad Gateway', isDown: true })
})

test('no answer at all is unreachable; one that does not come in time is a timeout', async () => {
  const broken = setUp(() => Promise.reject(new TypeError('Failed to fetch')))
  await expect(broken.api.get('/v1/stats')).rejects.toMatchObject({ status: 0, code: 'UNREACHABLE', isDown: true })
  const silent = setUp((_url, { signal }) => {
    const { promise, reject } = Promise.withResolvers<Response>()
    signal?.addEventListener('abort', () => reject(signal.reason))
    return promise
  })
  const answer = expect(silent.api.get('/v1/stats')).rejects.toMatchObject({ status: 0, code: 'TIMEOUT' })
  await silent.clock.advance(30_000)
  await answer
})

test('queries leave out what is not given, and write times that move with the clock', () => {
  const query = { queue: 'a b&c', limit: 50, dryRun: false, state: undefined, tag: '', from: { agoMs: 1_000 } }
  expect(queryText(query, 1_800_000_000_000)).toBe('?queue=a+b%26c&limit=50&dryRun=false&from=2027-01-15T07%3A59%3A59.000Z')
  expect(queryText({}, 0)).toBe('')
})
