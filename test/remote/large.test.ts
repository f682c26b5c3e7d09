/** What is larger than a frame: refused by itself, and everything around it goes. */
import { expect, test } from 'vitest'
import { serve } from './served.ts'

const MIB = 2 ** 20

test('a call of more than 17 MiB is refused, the others of its post are answered, and the connection stays', {
  timeout: 30_000,
}, async () => {
  const { probe, server } = await serve()
  const client = await probe()
  const replies = await client.settle([
    { op: 'enqueue', jobs: [{ name: 'a', data: '1' }] },
    { op: 'enqueue', jobs: [{ name: 'a', data: 'x'.repeat(18 * MIB) }] },
    { op: 'enqueue', jobs: [{ name: 'a', data: '2' }] },
  ])
  expect(replies.map(({ refusal }) => refusal?.code)).toEqual([undefined, 'TOO_LARGE', undefined])
  expect(server.connections).toBe(1)
  expect((await client.call<'stats'>({ op: 'stats' })).states.waiting).toBe(2)
})

test('many calls that are more than that together are taken in parts', { timeout: 30_000 }, async () => {
  const { probe } = await serve()
  const client = await probe()
  const data = JSON.stringify('x'.repeat(6 * MIB))
  const replies = await client.settle(Array.from({ length: 5 }, () => ({ op: 'enqueue', jobs: [{ name: 'a', data }] }) as const))
  expect(replies.map(({ refusal }) => refusal)).toEqual(Array(5).fill(undefined))
})

test('a job as large as jobs can be comes to its worker, and can be looked at', { timeout: 30_000 }, async () => {
  const { probe } = await serve()
  const client = await probe()
  const data = new Uint8Array(16 * MIB).fill(7)
  await client.attach(['a'], { local: false })
  const id = await client.enqueue('a', { data })
  const { seq, run, data: given } = await client.grants.take()
  expect((given as Uint8Array).length).toBe(16 * MIB)
  await client.call<'checkpoint'>({ op: 'checkpoint', seq, run, value: data })
  await client.call<'complete'>({ op: 'complete', seq, run, output: data })
  const view = await client.call<'get'>({ op: 'get', id })
  expect([view?.data, view?.output].map((value) => (value as Uint8Array).length)).toEqual([16 * MIB, 16 * MIB])
})
