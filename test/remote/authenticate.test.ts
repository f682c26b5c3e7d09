/** Tokens that are kept elsewhere: asked for at each greeting, and again when they have changed. */
import { type Request, SCOPES, type Scope } from '@millrace/core'
import { type Authenticate, listen } from '@millrace/remote'
import { sessionIntro } from '@millrace/testkit/internal'
import { expect, test } from 'vitest'
import { HELLO, RawClient } from './rawClient.ts'
import { serve } from './served.ts'

const [one, two] = ['the token of one client', 'the token of another one']

function keeper(): { readonly known: Map<string, readonly Scope[]>; readonly authenticate: Authenticate } {
  const known = new Map<string, readonly Scope[]>([
    [one, ['read']],
    [two, ['enqueue', 'work', 'read', 'admin']],
  ])
  return { known, authenticate: (token) => known.get(token) }
}

async function greet(url: string, token: string | undefined): Promise<RawClient> {
  const client = new RawClient(url)
  client.send({ ...HELLO, token })
  return client
}

test('a token that is known gets its scopes; others, and none, are turned away for good', async () => {
  const { authenticate, known } = keeper()
  const { url } = await serve({ listen: { authenticate } })
  expect(await (await greet(url, one)).said('welcome')).toMatchObject({ scopes: ['read'] })
  for (const wrong of ['a token that nobody knows', undefined])
    expect(await (await greet(url, wrong)).said('goodbye')).toMatchObject({ code: 'AUTH_FAILED', retryAfterMs: -1 })
  known.set('a later token for anyone', ['work'])
  expect(await (await greet(url, 'a later token for anyone')).said('welcome')).toMatchObject({ scopes: ['work'] })
})

test('a token that is revoked ends its connections at the next recheck, and leaves the others', async () => {
  const { authenticate, known } = keeper()
  const { url, server } = await serve({ listen: { authenticate } })
  const [first, second] = [await greet(url, one), await greet(url, two)]
  await Promise.all([first.said('welcome'), second.said('welcome')])
  server.recheck()
  known.delete(one)
  second.send({ type: 'requests', requests: [{ id: 1, command: { op: 'stats' } }] })
  await second.said('delivery')
  expect(first.closed).toBe(false)
  server.recheck()
  expect(await first.said('goodbye')).toMatchObject({ code: 'AUTH_FAILED', retryAfterMs: -1 })
  await first.gone()
  second.heard.length = 0
  second.send({ type: 'requests', requests: [{ id: 2, command: { op: 'stats' } }] })
  await second.said('delivery')
  expect(second.closed).toBe(false)
})

test('a token that allows less ends its connections, and what workers and listeners got by them; it is back with less', async () => {
  const { authenticate, known } = keeper()
  const { url, server, probe } = await serve({ listen: { authenticate } })
  known.set(one, ['work', 'read'])
  const client = await greet(url, one)
  await client.said('welcome')
  const requests: readonly Request[] = [
    { id: 1, command: { op: 'attach', session: sessionIntro(['a']), held: [] } },
    { id: 2, command: { op: 'subscribe', on: true } },
  ]
  client.send({ type: 'requests', requests })
  await client.said('delivery')
  const [bystander, told] = [await probe({ token: two }), client.heard.length]
  known.set(one, ['read'])
  server.recheck()
  await bystander.enqueue('a')
  expect(await client.said('goodbye')).toMatchObject({ code: 'CLOSING', retryAfterMs: expect.toSatisfy((ms: number) => ms >= 0) })
  await client.gone()
  expect(client.heard.slice(told).map(({ type }) => type)).toEqual(['goodbye'])
  const back = await greet(url, one)
  expect(await back.said('welcome')).toMatchObject({ scopes: ['read'] })
  back.send({ type: 'requests', requests })
  const { delivery } = await back.said('delivery')
  expect(delivery.replies).toMatchObject([{ id: 1, refusal: { code: 'FORBIDDEN' } }])
  expect((await bystander.call<'stats'>({ op: 'stats' })).states).toMatchObject({ waiting: 1, active: 0 })
})

test('a token that allows more goes on with more', async () => {
  const { authenticate, known } = keeper()
  const { server, probe } = await serve({ listen: { authenticate } })
  known.set(one, ['enqueue'])
  const client = await probe({ token: one })
  await expect(client.call({ op: 'stats' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  known.set(one, ['read', 'enqueue'])
  server.recheck()
  await client.call({ op: 'stats' })
})

test.each([
  ['a promise', async () => SCOPES],
  ['a promise that is rejected', () => Promise.reject(new Error('the table is away'))],
  ['a text', () => 'read'],
  ['a scope that there is not', () => ['write']],
  ['null', () => null],
])('%s in place of scopes turns the client away for now, and ends nothing else', async (_, answer: () => unknown) => {
  const lines: unknown[] = []
  const log = (message: string, fields: unknown) => void lines.push(message, fields)
  const logger = { debug: log, info: log, warn: log, error: log }
  let answers: () => unknown = answer
  const { url, server } = await serve({ listen: { authenticate: (() => answers()) as Authenticate, logger } })
  expect(await (await greet(url, one)).said('goodbye')).toMatchObject({ code: 'BUSY' })
  expect(lines).toMatchObject(['a token could not be looked at', { error: expect.stringContaining('authenticate') }])
  answers = () => ['read', 'read']
  const client = await greet(url, one)
  expect(await client.said('welcome')).toMatchObject({ scopes: ['read'] })
  answers = answer
  server.recheck()
  expect(await client.said('goodbye')).toMatchObject({ code: 'BUSY' })
})

test('one scope said four times is one', async () => {
  const { probe } = await serve({ listen: { authenticate: () => ['enqueue', 'enqueue', 'enqueue', 'enqueue'] } })
  await expect((await probe({ token: one })).call({ op: 'stats' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test('where tokens cannot be looked at, a client is told to come back', async () => {
  const { known } = keeper()
  let broken = true
  const authenticate: Authenticate = (token) => {
    if (broken) throw new Error('the disk is away')
    return known.get(token)
  }
  const { url } = await serve({ listen: { authenticate } })
  expect(await (await greet(url, one)).said('goodbye')).toMatchObject({ code: 'BUSY' })
  broken = false
  await (await greet(url, one)).said('welcome')
})

test('it is a token, as far as the address is concerned', async () => {
  const { authenticate } = keeper()
  const engine = {
    openPort(): never {
      throw new Error('nobody connects here')
    },
  }
  await expect(listen(engine, 'tcp://0.0.0.0:0', { authenticate })).rejects.toMatchObject({
    code: 'INSECURE_BIND',
    message: expect.not.stringContaining('token'),
  })
})
