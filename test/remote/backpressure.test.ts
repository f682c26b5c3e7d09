/** Who asks faster than it is answered, and who takes more slowly than it is told. */

import { quiet } from '@millrace/testkit/internal'
import { encodeMessage } from '@millrace/wire'
import { expect, test } from 'vitest'
import { HELLO, RawClient, welcomed } from './rawClient.ts'
import { serve } from './served.ts'
import { until } from './until.ts'

const MIB = 2 ** 20
const token = 'correct horse battery'

test('a client that asks and does not take the answers is asked for nothing more until it does', { timeout: 30_000 }, async () => {
  const { url, probe, server } = await serve()
  const bystander = await probe({ maxDataBytes: MIB })
  // 25 MiB in all.
  const id = await bystander.enqueue('a', { data: JSON.stringify('x'.repeat(MIB / 4)) })
  const slow = await welcomed(url)
  slow.socket.pause()
  for (let round = 0; round < 100; round++) {
    slow.send({ type: 'requests', requests: [{ id: round, command: { op: 'get', id } }] })
    await bystander.barrier()
    await bystander.barrier()
  }
  expect(server.unreadBytes).toBeLessThan(4 * MIB)
  slow.socket.resume()
  await until(() => slow.replies.length === 100)
  expect(slow.replies.map((reply) => reply.id)).toEqual(Array.from({ length: 100 }, (_, round) => round))
  expect([server.connections, server.unreadBytes]).toEqual([2, 0])
})

test('a client that is told more than it takes is closed, and no other', { timeout: 30_000 }, async () => {
  const { url, probe, server } = await serve()
  const bystander = await probe({ maxDataBytes: MIB })
  const slow = await welcomed(url)
  const { session } = { session: { uuid: 's', worker: 'w', host: 'h', pid: 1, local: false, abortGrace: 1_000 } }
  const handlers = [{ name: 'a', defaults: {} }]
  await slow.ask({ op: 'attach', held: [], session: { ...session, handlers, minConcurrency: 1_000, maxConcurrency: 1_000 } })
  slow.socket.pause()
  for (let round = 0; server.connections === 2 && round < 100; round++) {
    await bystander.enqueue('a', { data: JSON.stringify('x'.repeat(MIB - 2)) })
    await bystander.barrier()
  }
  expect(server.connections).toBe(1)
  slow.socket.resume()
  await slow.gone()
  // What was under way before it may have been lost with the connection, and the goodbye too.
  const last = slow.heard.at(-1)
  if (last?.type === 'goodbye') expect(last.code).toBe('SLOW_CONSUMER')
})

test('nor is one kept that asks what its token does not allow, and does not take the answers', { timeout: 30_000 }, async () => {
  const { url, server } = await serve({ listen: { token: [{ token, scopes: ['enqueue'] }] } })
  const flood = new RawClient(url)
  flood.send({ ...HELLO, token })
  await flood.said('welcome')
  flood.socket.pause()
  const requests = Array.from({ length: 2_000 }, (_, id) => ({ id, command: { op: 'stats' } as const }))
  const bytes = encodeMessage({ type: 'requests', requests })
  let told = 0
  while (server.connections === 1 && told < 200) await flood.bytes(bytes).then(() => told++)
  await until(() => server.connections === 0)
})

test('pings of one that takes no pongs are not answered without end', { timeout: 30_000 }, async () => {
  const { url } = await serve()
  const flood = await welcomed(url)
  const pongs = () => flood.heard.filter(({ type }) => type === 'pong')
  flood.socket.pause()
  const bytes = Buffer.concat(Array(20_000).fill(encodeMessage({ type: 'ping', nonce: 0 })))
  for (let round = 0; round < 20; round++) await flood.bytes(bytes)
  flood.socket.resume()
  for (let nonce = 1; pongs().at(-1)?.type !== 'pong' || (pongs().at(-1) as { nonce: number }).nonce === 0; nonce++) {
    flood.send({ type: 'ping', nonce })
    await quiet()
  }
  expect(pongs().length).toBeLessThan(200_000)
})

test('one that only pauses now and then is not', { timeout: 30_000 }, async () => {
  const { url, probe, server } = await serve()
  const bystander = await probe({ maxDataBytes: MIB })
  // 4 MiB in each round, which is more than sockets hold.
  const id = await bystander.enqueue('a', { data: JSON.stringify('x'.repeat(MIB / 4)) })
  const slow = await welcomed(url)
  for (let round = 0; round < 5; round++) {
    slow.socket.pause()
    for (let index = 0; index < 16; index++)
      slow.send({ type: 'requests', requests: [{ id: round * 16 + index, command: { op: 'get', id } }] })
    await bystander.barrier()
    slow.socket.resume()
    await until(() => slow.replies.length === (round + 1) * 16)
  }
  expect(server.connections).toBe(2)
})

test('with 10,000 unanswered requests the server reads no more until some are answered', { timeout: 30_000 }, async () => {
  const served = await serve()
  const client = await welcomed(served.url)
  const { actor } = served.engine
  const receive = actor.receive.bind(actor)
  let heard = 0
  const withheld: (() => void)[] = []
  let withholding = true
  actor.receive = (connection, requests) => {
    heard += requests.length
    if (withholding) withheld.push(() => receive(connection, requests))
    else receive(connection, requests)
  }
  const frame = (from: number) => ({
    type: 'requests' as const,
    requests: Array.from({ length: 1_000 }, (_, index) => ({ id: from + index, command: { op: 'heartbeat' as const, seq: 1, run: 1 } })),
  })
  // More than the sockets themselves hold.
  const frames = Array.from({ length: 100 }, (_, index) => encodeMessage(frame(1 + index * 1_000)))
  for (const bytes of frames) client.socket.write(bytes)
  await until(() => heard >= 10_000)
  for (let round = 0; round < 50; round++) await new Promise<void>((resolve) => setImmediate(resolve))
  // What had been read with the last of them comes too: one piece of a socket.
  expect(heard).toBeLessThan(20_000)
  withholding = false
  for (const give of withheld.splice(0)) give()
  // A turn begins when mail comes in the usual way.
  const probe = await served.probe()
  await probe.barrier()
  await until(() => client.replies.length === 100_000)
  expect(client.replies.map(({ id }) => id)).toEqual(Array.from({ length: 100_000 }, (_, index) => index + 1))
})

test('jobs are read 64 at a time, in order, and nothing passes them', { timeout: 30_000 }, async () => {
  const served = await serve()
  const probe = await served.probe({ maxDataBytes: MIB })
  const id = await probe.enqueue('a', { data: JSON.stringify('x'.repeat(MIB / 64)) })
  const { actor } = served.engine
  const receive = actor.receive.bind(actor)
  const lots: number[] = []
  actor.receive = (connection, requests) => {
    lots.push(requests.length)
    receive(connection, requests)
  }
  const client = await welcomed(served.url)
  lots.length = 0
  const gets = Array.from({ length: 500 }, (_, index) => ({ id: 1 + index, command: { op: 'get', id } as const }))
  client.send({ type: 'requests', requests: [...gets, { id: 501, command: { op: 'stats' } }] })
  await until(() => client.replies.at(-1)?.id === 501)
  expect(Math.max(...lots)).toBeLessThanOrEqual(64)
  expect(client.replies.map(({ id: reply }) => reply).filter((reply) => reply > 0)).toEqual(
    Array.from({ length: 501 }, (_, index) => 1 + index),
  )
})

test('a connection with more than 10,000 worker sessions is closed, and no other', { timeout: 30_000 }, async () => {
  const { url, probe, server } = await serve()
  const bystander = await probe()
  const client = await welcomed(url)
  const attach = (number: number) => ({
    id: number,
    command: {
      op: 'attach' as const,
      session: {
        uuid: `session-${number}`,
        worker: 'w',
        host: 'h',
        pid: 1,
        handlers: [{ name: 'a', defaults: {} }],
        minConcurrency: 1,
        maxConcurrency: 1,
        abortGrace: 0,
        local: false,
      },
      held: [],
    },
  })
  for (let from = 1; from <= 9_001; from += 1_000)
    client.send({ type: 'requests', requests: Array.from({ length: 1_000 }, (_, index) => attach(from + index)) })
  await bystander.barrier()
  expect(server.connections).toBe(2)
  client.send({ type: 'requests', requests: [attach(10_001)] })
  await client.gone()
  expect(client.heard.at(-1)).toMatchObject({ type: 'goodbye', code: 'BAD_MESSAGE', message: expect.stringContaining('10000') })
  await bystander.barrier()
})
