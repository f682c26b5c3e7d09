import { randomBytes } from 'node:crypto'
import { AuditUnavailableError } from '@millrace/core'
import { type Engine, openEngine } from '@millrace/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AuditEntry } from './audit.ts'
import { createHttp } from './createHttp.ts'
import type { HttpOptions } from './options.ts'
import { TOKEN, testApi } from './testing/api.ts'

let engine: Engine
beforeAll(async () => {
  engine = await openEngine({ file: ':memory:' })
})
afterAll(() => engine.stop())

const from = (remoteAddress: string) => ({ env: { incoming: { socket: { remoteAddress } } } })
const SCOPED = {
  enqueue: 'token-of-producers-1',
  work: 'token-of-the-workers',
  read: 'token-of-a-dashboard',
  admin: 'token-of-operators-1',
} as const
const byScope = Object.entries(SCOPED).map(([scope, token]) => ({ token, scopes: [scope as keyof typeof SCOPED], name: scope }))

describe('options', () => {
  const build = (options: unknown) => () => createHttp(engine, options as HttpOptions)

  test('nothing is open by default', () => {
    expect(build({})).toThrow(expect.objectContaining({ code: 'OPTION_TYPE', option: 'token' }))
    expect(build(undefined)).toThrow(TypeError)
    expect(build({ open: false })).toThrow(TypeError)
    expect(build({ open: true })).not.toThrow()
    expect(build({ open: true, token: TOKEN })).toThrow(/exclude each other/)
    const tokens = { list: () => [], create: () => {}, revoke: () => {}, audited: () => {} }
    expect(build({ open: true, tokens })).toThrow(/tokens and open exclude each other/)
  })

  test.each([
    [{ token: 'short' }, 'OPTION_RANGE', 'token'],
    [{ token: `${TOKEN} with space` }, 'OPTION_TYPE', 'token'],
    [{ token: [] }, 'OPTION_RANGE', 'token'],
    [{ token: [{ token: TOKEN, scope: 'read' }] }, 'OPTION_TYPE', 'scope'],
    [{ token: [{ token: TOKEN, scopes: ['root'] }] }, 'OPTION_TYPE', 'token[0].scopes'],
    [{ authenticate: 'yes' }, 'OPTION_TYPE', 'authenticate'],
    [{ open: true, maxBodyBytes: 1 }, 'OPTION_RANGE', 'maxBodyBytes'],
    [{ open: true, bodyTimeout: 0 }, 'OPTION_RANGE', 'bodyTimeout'],
    [{ open: true, bodyTimeout: '25h' }, 'OPTION_RANGE', 'bodyTimeout'],
    [{ open: true, bodyTimeout: 'long' }, 'OPTION_TYPE', 'bodyTimeout'],
    [{ open: true, rateLimit: { limit: 0 } }, 'OPTION_RANGE', 'rateLimit.limit'],
    [{ open: true, cursorSecret: 'short' }, 'OPTION_RANGE', 'cursorSecret'],
    [{ open: true, sessionSecret: 'x'.repeat(15) }, 'OPTION_RANGE', 'sessionSecret'],
    [{ open: true, sessionSecret: 17 }, 'OPTION_TYPE', 'sessionSecret'],
    [{ open: true, basePath: 'queue' }, 'OPTION_TYPE', 'basePath'],
    [{ open: true, control: {} }, 'OPTION_TYPE', 'control'],
    [{ open: true, cors: true }, 'OPTION_TYPE', 'cors'],
    [{ open: true, instance: 'production' }, 'OPTION_TYPE', 'options'],
    [{ open: true, instance: { title: 'production' } }, 'OPTION_TYPE', 'title'],
    [{ open: true, instance: { name: '' } }, 'OPTION_RANGE', 'instance.name'],
    [{ open: true, instance: { name: 'n'.repeat(65) } }, 'OPTION_RANGE', 'instance.name'],
    [{ open: true, instance: { name: '\ud800' } }, 'OPTION_TYPE', 'instance.name'],
    [{ open: true, instance: { name: 7 } }, 'OPTION_TYPE', 'instance.name'],
    [{ open: true, instance: { colour: '#f00' } }, 'OPTION_TYPE', 'instance.colour'],
    [{ open: true, instance: { colour: 'RED' } }, 'OPTION_TYPE', 'instance.colour'],
  ])('%j is refused as %s of %s', (options, code, option) => {
    expect(build(options)).toThrow(expect.objectContaining({ code, option }))
  })

  test('a message never tells the token', () => {
    expect(build({ token: 'hunter2' })).not.toThrow(/hunter2/)
  })
})

describe('tokens', () => {
  test('each scope reaches its own operations, and no others', async () => {
    const http = testApi(engine, { token: byScope })
    for (const { method, path, scope } of http.operations) {
      const concrete = path.replaceAll('{id}', 'none').replaceAll('{name}', 'none')
      for (const token of Object.keys(SCOPED) as (keyof typeof SCOPED)[]) {
        const aborted = new AbortController()
        const answer = await http.open(method.toUpperCase(), concrete, {
          token: SCOPED[token],
          ...(method === 'get' && { signal: aborted.signal }),
        })
        if (scope === undefined || scope === 'any' || scope === token)
          expect([401, 403], `${method} ${path} as ${token}`).not.toContain(answer.status)
        else expect(answer.status, `${method} ${path} as ${token}`).toBe(403)
        aborted.abort()
        await answer.body?.cancel()
      }
      if (scope !== undefined)
        expect(
          (
            await http.send(method.toUpperCase(), concrete, {
              token: randomBytes(32).toString('hex'),
              ...from(`10.0.0.${path.length}.${method}.${path}`),
            })
          ).status,
        ).toBe(401)
    }
  })

  test('a key that another producer has taken is told by its job’s id, and the job to those who may read', async () => {
    const both = { token: 'token-of-both-of-these', scopes: ['enqueue', 'read'] as const, name: 'both' }
    const http = testApi(engine, { token: [...byScope, both] })
    const headers = { 'idempotency-key': 'shared-key' }
    const send = (token: string, data: string) => http.send('POST', '/v1/jobs', { token, headers, body: { job: 'shared', data } })
    const first = await send(SCOPED.enqueue, 'a secret')
    expect(await send(SCOPED.enqueue, 'a guess')).toMatchObject({ status: 200, body: { id: first.body.id, created: false } })
    expect((await send(SCOPED.enqueue, 'a guess')).body).not.toHaveProperty('job')
    expect((await send(both.token, 'a look')).body).toMatchObject({ id: first.body.id, created: false, job: { data: 'a secret' } })
  })

  test('without one, or with another scheme: 401, with how to do it', async () => {
    const http = testApi(engine)
    for (const authorization of ['', 'Basic dTpw', 'Bearer', `Bearer ${TOKEN} x`, TOKEN]) {
      const answer = await http.send('GET', '/v1/jobs', { headers: { authorization } })
      expect(answer, authorization).toMatchObject({ status: 401, body: { code: 'AUTH_FAILED' } })
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
    }
  })

  const logged = () => {
    const warnings: unknown[] = []
    return { warnings, logger: { ...silent, warn: (message: string, fields?: object) => warnings.push([message, fields]) } }
  }

  test('five wrong ones in a minute refuse further wrong ones of their address for half a minute, and are logged once', async () => {
    const { warnings, logger } = logged()
    const http = testApi(engine, { token: TOKEN, logger })
    const call = async (address: string, token = 'a-wrong-token-here') =>
      (await http.send('GET', '/v1/jobs', { token, ...from(address) })).status
    for (let attempt = 0; attempt < 5; attempt++) expect(await call('10.1.1.1')).toBe(401)
    expect([await call('10.1.1.1'), await call('::ffff:10.1.1.1'), await call('10.1.1.2')]).toEqual([429, 429, 401])
    http.clock.advance(29_999)
    const blocked = await http.send('GET', '/v1/jobs', { token: 'a-wrong-token-here', ...from('10.1.1.1') })
    expect(blocked).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED', retryable: true } })
    expect(blocked.headers.get('retry-after')).toBe('1')
    expect(warnings).toEqual([[expect.stringContaining('wrong tokens'), { address: '10.1.1.1', forMs: 30_000 }]])
    http.clock.advance(1)
    expect(await call('10.1.1.1')).toBe(401)
    for (let host = 1; host <= 5; host++) expect(await call(`2001:db8:0:1::${host}`)).toBe(401)
    expect([await call('2001:db8:0:1:ffff::1'), await call('2001:db8:0:2::1')]).toEqual([429, 401])
  })

  test('good tokens pass at every address, whatever others have sent from it', async () => {
    const { warnings, logger } = logged()
    const http = testApi(engine, { token: TOKEN, logger })
    const call = async (address: string, token = 'a-wrong-token-here') =>
      (await http.send('GET', '/v1/jobs', { token, ...from(address) })).status
    for (const address of ['10.1.1.1', '2001:db8::1', '127.0.0.1', '::1']) {
      for (let attempt = 0; attempt < 6; attempt++) await call(address)
      expect(await call(address, TOKEN), address).toBe(200)
    }
    expect(warnings).toHaveLength(4)
    expect([await call('10.1.1.1'), await call('127.0.0.1'), await call('::1')]).toEqual([429, 401, 401])
    expect(warnings).toHaveLength(4)
  })

  test('where nobody says where requests come from, guessing is slowed down, and good tokens pass', async () => {
    const http = testApi(engine)
    for (let attempt = 0; attempt < 5; attempt++)
      expect((await http.send('GET', '/v1/jobs', { token: 'a-wrong-token-here' })).status).toBe(401)
    expect((await http.send('GET', '/v1/jobs', { token: 'a-wrong-token-here' })).status).toBe(429)
    expect((await http.send('GET', '/v1/jobs')).status).toBe(200)
  })

  test('authenticate may keep tokens elsewhere, and answer later', async () => {
    const http = testApi(engine, {
      authenticate: async (token) => (token === 'from-a-store' ? { name: 'store', scopes: ['read'] } : undefined),
    })
    expect((await http.send('GET', '/v1/jobs', { token: 'from-a-store' })).status).toBe(200)
    expect((await http.send('POST', '/v1/jobs', { token: 'from-a-store', body: { job: 'x' } })).status).toBe(403)
    expect((await http.send('GET', '/v1/jobs', { token: 'other' })).status).toBe(401)
    const broken = testApi(engine, { authenticate: () => Promise.reject(new Error('the store is down: SELECT token')), logger: silent })
    expect(await broken.send('GET', '/v1/jobs')).toMatchObject({ status: 500, body: { code: 'INTERNAL', id: 'id-1' } })
  })

  test('open: a page of another site changes nothing', async () => {
    const http = testApi(engine, { open: true })
    const before = (await engine.stats()).totals.enqueued
    const send = async (headers: Record<string, string>, method = 'POST') =>
      (
        await http.send(method, method === 'GET' ? '/v1/jobs' : '/v1/jobs:import?name=x', {
          ...(method === 'POST' && { raw: '1' }),
          headers: { 'content-type': 'text/plain', ...headers },
        })
      ).status
    for (const site of ['cross-site', 'same-site']) expect(await send({ 'sec-fetch-site': site })).toBe(403)
    for (const origin of ['https://evil.example', 'null']) expect(await send({ origin, host: 'localhost' })).toBe(403)
    expect((await engine.stats()).totals.enqueued).toBe(before)
    for (const site of ['same-origin', 'none']) expect(await send({ 'sec-fetch-site': site })).toBe(200)
    expect(await send({ origin: 'http://localhost', host: 'localhost' })).toBe(200)
    expect(await send({ 'sec-fetch-site': 'cross-site' }, 'GET')).toBe(200)
  })

  test('open: no token at all', async () => {
    const http = testApi(engine, { open: true })
    const response = await http.api.fetch(new Request('http://localhost/v1/jobs'))
    expect(response.status).toBe(200)
  })
})

const silent = { debug() {}, info() {}, warn() {}, error() {} }

test('a rate per token', async () => {
  const http = testApi(engine, { token: byScope, rateLimit: { limit: 3, period: '1s' } })
  const call = async (token: string) => http.send('GET', '/v1/jobs', { token })
  for (let request = 0; request < 3; request++) expect((await call(SCOPED.read)).status).toBe(200)
  const refused = await call(SCOPED.read)
  expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED', retryAfter: 334 } })
  expect(refused.headers.get('retry-after')).toBe('1')
  expect((await call(SCOPED.admin)).status).toBe(403)
  http.clock.advance(334)
  expect((await call(SCOPED.read)).status).toBe(200)
  expect((await call(SCOPED.read)).status).toBe(429)
})

describe('audit', () => {
  test('is told who did what, when, and how it went; also of what was refused', async () => {
    const entries: AuditEntry[] = []
    const http = testApi(engine, { token: byScope, audit: (entry) => entries.push(entry) })
    const id = (await http.send('POST', '/v1/jobs', { token: SCOPED.enqueue, body: { job: 'audited', options: { delay: '1h' } } })).body.id
    await http.send('POST', `/v1/jobs/${id}/cancel`, { token: SCOPED.admin })
    await http.send('POST', `/v1/jobs/${id}/cancel`, { token: SCOPED.admin })
    await http.send('DELETE', `/v1/jobs/${id}`, { token: SCOPED.read })
    await http.send('POST', '/v1/jobs:delete', { token: SCOPED.admin, body: { filter: { name: 'audited' }, dryRun: true } })
    await http.send('GET', '/v1/jobs', { token: SCOPED.read })
    const at = expect.any(Date)
    expect(entries).toEqual([
      { at, who: 'admin', operation: 'cancelJob', target: { id }, outcome: 'done', status: 200 },
      { at, who: 'admin', operation: 'cancelJob', target: { id }, outcome: 'refused', status: 409 },
      { at, who: 'read', operation: 'deleteJob', target: { id }, outcome: 'refused', status: 403 },
      { at, who: 'admin', operation: 'deleteJobs', target: { filter: { name: 'audited' }, dryRun: true }, outcome: 'done', status: 200 },
    ])
  })

  test('a cancel stores the name of its token with the job, and its reason is in the audit', async () => {
    const entries: AuditEntry[] = []
    const http = testApi(engine, { token: byScope, audit: (entry) => entries.push(entry) })
    const create = async (name: string) =>
      (await http.send('POST', '/v1/jobs', { token: SCOPED.enqueue, body: { job: name, options: { delay: '1h' } } })).body.id
    const [id, other] = [await create('withdrawn'), await create('withdrawn-too')]
    const admin = { token: SCOPED.admin }
    await http.send('POST', `/v1/jobs/${id}/cancel`, { ...admin, body: { reason: 'wrong file' } })
    await http.send('POST', '/v1/jobs:cancel', { ...admin, body: { filter: { name: 'withdrawn-too' } } })
    const seen = async (of: string) => (await http.send('GET', `/v1/jobs/${of}`, { token: SCOPED.read })).body.cancellation
    expect([await seen(id), await seen(other)]).toEqual([{ reason: 'wrong file', by: 'admin' }, { by: 'admin' }])
    expect(entries.map(({ target }) => target)).toEqual([{ id, reason: 'wrong file' }, { filter: { name: 'withdrawn-too' } }])
    for (const reason of ['', 'x'.repeat(1_001), 1])
      expect((await http.send('POST', `/v1/jobs/${other}/cancel`, { ...admin, body: { reason } })).status).toBe(400)
    // Who it was is not for the caller to say.
    expect((await http.send('POST', `/v1/jobs/${other}/cancel`, { ...admin, body: { by: 'ada' } })).status).toBe(400)
  })

  test('keeps no more than it has to: ids are counted, and a long path is cut', async () => {
    const entries: AuditEntry[] = []
    const http = testApi(engine, { token: byScope, audit: (entry) => entries.push(entry) })
    const ids = Array.from({ length: 5_000 }, (_, index) => `none-${index}`)
    const body = { filter: { ids, name: 'audited' }, dryRun: true }
    await http.send('POST', '/v1/jobs:delete', { token: SCOPED.admin, body })
    await http.send('DELETE', `/v1/jobs/${'x'.repeat(15_000)}`, { token: SCOPED.read })
    expect(entries.map(({ target }) => target)).toEqual([
      { filter: { name: 'audited', ids: 5_000 }, dryRun: true },
      { cut: expect.stringMatching(/^\{"id":"x{2000}/) },
    ])
    expect(JSON.stringify(entries[1]).length).toBeLessThan(2_500)
  })

  test('what cannot be audited is refused and does not happen; reads are answered', async () => {
    const entries: AuditEntry[] = []
    const assertAuditable = () => {
      throw new AuditUnavailableError('no room in /var/secret')
    }
    const degraded = () => 'the audit cannot be written'
    const http = testApi(engine, { token: TOKEN, audit: (entry) => entries.push(entry), assertAuditable, degraded })
    const { id } = (await http.send('POST', '/v1/jobs', { body: { job: 'kept', options: { delay: '1h' } } })).body
    const refused = await http.send('DELETE', `/v1/jobs/${id}`)
    expect(refused).toMatchObject({ status: 503, body: { code: 'AUDIT_UNAVAILABLE', detail: expect.stringContaining('millrace doctor') } })
    expect(JSON.stringify(refused.body)).not.toContain('/var/secret')
    expect(await http.send('GET', `/v1/jobs/${id}`)).toMatchObject({ status: 200, body: { state: 'scheduled' } })
    expect(entries).toMatchObject([{ operation: 'deleteJob', outcome: 'failed', status: 503 }])
    expect(await http.send('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok', degraded: degraded() } })
    expect(await http.send('GET', '/readyz')).toMatchObject({ status: 200, body: { status: 'ready', degraded: degraded() } })
  })

  test('one that throws is logged, and what happened is answered', async () => {
    const errors: unknown[] = []
    const logger = { ...silent, error: (message: string, fields?: object) => errors.push([message, fields]) }
    const http = testApi(engine, { token: TOKEN, logger, audit: () => Promise.reject(new Error('no room')) })
    expect((await http.send('POST', '/v1/jobs:redrive')).status).toBe(200)
    expect(errors).toEqual([['a request has failed', { id: 'id-1', error: expect.stringContaining('no room') }]])
  })
})
