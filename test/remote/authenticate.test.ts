/** Tokens that are kept elsewhere: asked for at each greeting, and again when they have changed. */
import type { Scope } from '@millrace/core'
import { type Authenticate, listen } from '@millrace/remote'
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

test('a token that allows less goes on with less', async () => {
  const { authenticate, known } = keeper()
  const { server, probe } = await serve({ listen: { authenticate } })
  const client = await probe({ token: two })
  await client.barrier()
  known.set(two, ['enqueue'])
  server.recheck()
  await expect(client.call({ op: 'stats' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  known.set(two, ['enqueue', 'work', 'read', 'admin'])
  server.recheck()
  await client.call({ op: 'stats' })
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
