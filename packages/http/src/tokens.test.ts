/** Tokens and the audit over HTTP, on a store of the program that serves the API. */
import { SCOPES } from '@millrace/core'
import type { Engine } from '@millrace/engine'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openInThread } from '../../testkit/src/testing/inThread.ts'
import { type Caller, createHttp, type HttpOptions } from './index.ts'
import { TOKEN, testApi } from './testing/api.ts'
import type { AuditedCall, TokenFacts, TokenStore } from './tokens.ts'

const AT = new Date(1_800_000_000_000)
const READER = 'reader-token-0123456789'
let engine: Engine
beforeEach(async () => {
  engine = openInThread()
})
afterEach(() => engine.stop())

function failing(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, retryable: false })
}

/** A store with a bystander, which no test names. */
function memoryStore() {
  const tokens: TokenFacts[] = [{ id: 'b1', name: 'bystander', scopes: ['read'], createdAt: AT }]
  const entries: AuditedCall[] = []
  const store: TokenStore = {
    list: () => tokens,
    create({ name, scopes = ['read'] }) {
      if (tokens.some((token) => token.name === name)) throw failing('TOKEN_EXISTS', `there is a token '${name}'`)
      // More than what may be shown.
      const view = { id: `t${tokens.length}`, name, scopes, createdAt: AT, sha256: 'a digest' }
      tokens.push(view)
      return { token: 'mr_secret-of-the-new-one', view }
    },
    revoke(id) {
      const at = tokens.findIndex((token) => token.id === id || token.name === id)
      if (at === -1) throw failing('TOKEN_NOT_FOUND', `there is no token '${id}' in use`)
      tokens[at] = { ...(tokens[at] as TokenFacts), revokedAt: AT }
      return tokens[at] as TokenFacts
    },
    audited: (limit) => entries.slice(0, limit),
  }
  const known: HttpOptions['token'] = [
    { token: TOKEN, name: 'me' },
    { token: READER, name: 'reader', scopes: ['read', 'enqueue', 'work'] },
  ]
  const http = testApi(engine, { token: known, tokens: store, audit: (entry) => void entries.unshift({ ...entry, via: 'http' }) })
  return { http, tokens, entries, store }
}

test('a token is created, shown once, listed without itself, and revoked', async () => {
  const { http, tokens } = memoryStore()
  const created = await http.send('POST', '/v1/tokens', { body: { name: 'ci', scopes: ['enqueue'] } })
  expect(created).toMatchObject({ status: 201, body: { token: 'mr_secret-of-the-new-one', id: 't1', name: 'ci', scopes: ['enqueue'] } })
  const list = await http.send('GET', '/v1/tokens')
  expect(list.body.tokens.map(({ name }: TokenFacts) => name)).toEqual(['bystander', 'ci'])
  expect(JSON.stringify(list.body)).not.toMatch(/secret|digest/)
  expect((await http.send('DELETE', '/v1/tokens/ci')).body).toMatchObject({ name: 'ci', revokedAt: AT.toISOString() })
  expect(tokens[0]).toEqual({ id: 'b1', name: 'bystander', scopes: ['read'], createdAt: AT })
})

test('the audit has each change, and nothing of a token; to look at it adds nothing', async () => {
  const { http, entries } = memoryStore()
  await http.send('POST', '/v1/tokens', { body: { name: 'ci' } })
  await http.send('DELETE', '/v1/tokens/ci')
  await http.send('GET', '/v1/tokens')
  const { body } = await http.send('GET', '/v1/audit')
  expect(body.entries.map(({ operation }: AuditedCall) => operation)).toEqual(['revokeToken', 'createToken'])
  expect(JSON.stringify(entries)).not.toContain('secret')
  expect((await http.send('GET', '/v1/audit?limit=1')).body.entries).toHaveLength(1)
})

test('only the scope admin may: every other token is refused, and the audit has that', async () => {
  const { http, tokens, entries } = memoryStore()
  const calls = [
    ['GET', '/v1/tokens', undefined],
    ['POST', '/v1/tokens', { name: 'mine', scopes: ['admin'] }],
    ['DELETE', '/v1/tokens/bystander', undefined],
    ['GET', '/v1/audit', undefined],
  ] as const
  for (const [method, path, body] of calls) {
    const sent = body === undefined ? {} : { body }
    expect((await http.send(method, path, { ...sent, token: READER })).status, path).toBe(403)
    expect((await http.send(method, path, { ...sent, token: 'unknown-token-0123456' })).status, path).toBe(401)
  }
  expect(entries.map(({ who, operation, outcome }) => [who, operation, outcome])).toEqual(
    ['audit', 'revokeToken', 'createToken', 'listTokens'].map((operation) => ['reader', operation, 'refused']),
  )
  expect(tokens).toHaveLength(1)
})

test.each<[string, object, object]>([
  ['a scope that its creator lacks', { scopes: ['admin'] }, { scopes: ['admin', 'read'] }],
  ['all scopes', { scopes: ['admin', 'read', 'enqueue'] }, {}],
  ['every job name', { scopes: SCOPES, names: ['resize'] }, {}],
  ['another job name', { scopes: SCOPES, names: ['resize'] }, { names: ['resize', 'charge'] }],
  ['every queue', { scopes: SCOPES, queues: ['media'] }, { scopes: ['work'] }],
])('a token never gives another one %s', async (_, given, wanted) => {
  const caller = { name: 'narrow', ...given } as Caller
  const tokens = { ...memoryStore().store, create: () => expect.unreachable() }
  const http = testApi(engine, { authenticate: () => caller, tokens })
  const refused = await http.send('POST', '/v1/tokens', { body: { name: 'wide', ...wanted } })
  expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
})

test('a narrow token creates one that is as narrow', async () => {
  const { store, tokens } = memoryStore()
  const caller: Caller = { name: 'narrow', scopes: ['admin', 'work'], names: ['resize', 'crop'] }
  const http = testApi(engine, { authenticate: () => caller, tokens: store })
  const body = { name: 'same', scopes: ['work'], names: ['crop'] }
  expect((await http.send('POST', '/v1/tokens', { body })).status).toBe(201)
  expect(tokens.map(({ name }) => name)).toEqual(['bystander', 'same'])
})

test.each<[string, string, unknown, number, string]>([
  ['POST', '/v1/tokens', { name: 'bystander' }, 409, 'TOKEN_EXISTS'],
  ['POST', '/v1/tokens', { name: 'ci', scopes: [] }, 400, 'VALIDATION'],
  ['POST', '/v1/tokens', { name: 'ci', scopes: ['root'] }, 400, 'VALIDATION'],
  ['POST', '/v1/tokens', { name: 'ci', token: 'of-my-own-choice-012345' }, 400, 'VALIDATION'],
  ['POST', '/v1/tokens', {}, 400, 'VALIDATION'],
  ['DELETE', '/v1/tokens/nobody', undefined, 404, 'TOKEN_NOT_FOUND'],
  ['GET', '/v1/audit?limit=0', undefined, 400, 'VALIDATION'],
  ['GET', '/v1/audit?limit=1001', undefined, 400, 'VALIDATION'],
])('%s %s %j is refused', async (method, path, body, status, code) => {
  const { http, tokens } = memoryStore()
  expect(await http.send(method, path, body === undefined ? {} : { body })).toMatchObject({ status, body: { code } })
  expect(tokens).toHaveLength(1)
})

describe('without a store', () => {
  test('there is none of it, and /v1/info says so', async () => {
    const plain = testApi(engine)
    expect((await plain.send('GET', '/v1/tokens')).status).toBe(404)
    expect((await plain.send('GET', '/v1/info')).body.on).toMatchObject({ tokens: true, tokenStore: false })
    expect((await memoryStore().http.send('GET', '/v1/info')).body.on).toMatchObject({ tokenStore: true })
  })

  test('one that lacks a method is refused', () => {
    expect(() => createHttp(engine, { token: TOKEN, tokens: { list: () => [] } } as unknown as HttpOptions)).toThrow(
      'tokens must have list(), create(), revoke() and audited()',
    )
  })
})

test('what continues ends when its token is revoked, without a tick of the clock; that of another token stays', async () => {
  const known = new Map<string, Caller>(
    ['gone', 'stays'].map((name) => [`${name}-token-of-sixteen`, { name, scopes: ['read', 'enqueue'] }]),
  )
  const listeners = new Set<() => void>()
  const { store } = memoryStore()
  const onChange = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  const http = testApi(engine, { authenticate: (token) => known.get(token), tokens: { ...store, onChange } })
  const [gone, stays] = [...known.keys()] as [string, string]
  const readers = await Promise.all(
    [gone, stays].map(async (token) => {
      const reader = ((await http.open('GET', '/v1/events', { token })).body as ReadableStream<Uint8Array>).getReader()
      await reader.read()
      return reader
    }),
  )
  const imports = [gone, stays].map((token) => {
    const lines = new TransformStream<Uint8Array, Uint8Array>()
    const headers = { 'content-type': 'text/plain' }
    const answer = http.send('POST', '/v1/jobs:import?name=line', { raw: lines.readable, headers, token })
    return { answer, to: lines.writable.getWriter() }
  })
  const say = (text: string) => Promise.all(imports.map(({ to }) => to.write(Buffer.from(text)).catch(() => {})))
  await say('one\n')
  known.delete(gone)
  for (const listener of listeners) listener()
  expect((await readers[0]?.read())?.done).toBe(true)
  await say('two\n')
  await Promise.all(imports.map(({ to }) => to.close().catch(() => {})))
  expect(await imports[0]?.answer).toMatchObject({ status: 401, body: { code: 'AUTH_FAILED' } })
  expect(await imports[1]?.answer).toMatchObject({ status: 200, body: { created: 2 } })
  const job = await engine.enqueue('seen')
  const seen = Buffer.from((await readers[1]?.read())?.value ?? []).toString()
  expect(seen).toContain('enqueued')
  await readers[1]?.cancel()
  expect(job.created).toBe(true)
  expect(listeners.size).toBe(1)
})
