/** What is larger than a frame: refused by itself, and everything around it goes. */
import { join } from 'node:path'
import type { Delivery, PortListener, Request } from '@millrace/core'
import { listen, type Shareable } from '@millrace/remote'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { welcomed } from './rawClient.ts'
import { serve } from './served.ts'
import { until } from './until.ts'

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

test('a worker that may run many large jobs gets them all at once', { timeout: 30_000 }, async () => {
  const { probe, server } = await serve()
  const worker = await probe()
  for (let seq = 1; seq <= 40; seq++) await worker.enqueue('a', { data: 'x'.repeat(MIB) })
  await worker.attach(['a'], { local: false, minConcurrency: 100, maxConcurrency: 100 })
  const ended = worker.ends.take()
  for (let seq = 1; seq <= 40; seq++) {
    const grant = await Promise.race([worker.grants.take(), ended])
    expect(grant).toMatchObject({ seq, run: 1 })
  }
  expect(server.connections).toBe(1)
})

/** An engine that says what a test wants to the first client that asks for its workers. */
function saying(delivery: (asked: number) => Delivery): Shareable {
  return {
    openPort() {
      let listener: PortListener | undefined
      return {
        capabilities: new Set(),
        listen: (its) => {
          listener = its
        },
        send: ([request]) => {
          const { id, command } = request as Request
          const reply = { replies: [{ id, value: true }], grants: [], notices: [], events: [], renewal: 0 }
          queueMicrotask(() => listener?.deliver(command.op === 'workers' ? delivery(id) : reply))
        },
        hold: () => {},
        close: async () => {},
      }
    },
  }
}

test('a delivery of more than fits into one frame has each of its parts once', { timeout: 30_000 }, async () => {
  const grant = { session: 's', seq: 1, node: 1, enqueuedAt: 1, name: 'a', queue: 'default', run: 1, attempt: 1, maxAttempts: 1 }
  const failed = (id: number) => ({ id, value: { state: 'failed', error: { name: 'Error', message: 'm', stack: 'x'.repeat(16_384) } } })
  const server = await listen(
    saying((asked) => ({
      replies: [...Array.from({ length: 5_000 }, (_, index) => failed(asked + index + 1)), { id: asked, value: [] }],
      grants: [
        {
          ...grant,
          priority: 0,
          weight: 1,
          runAt: 1,
          timeout: 1,
          heartbeatTimeout: 1,
          data: null,
          checkpoint: null,
          tags: undefined,
          meta: undefined,
        },
      ],
      notices: [{ kind: 'reattach' }],
      events: [],
      renewal: 0,
    })),
    `unix:${join(temporaryFolder(), 'sock')}`,
  )
  onTestFinished(() => server.close())
  const client = await welcomed(server.url)
  client.send({ type: 'requests', requests: [{ id: 1, command: { op: 'workers' } }] })
  const heard = () => client.heard.flatMap((message) => (message.type === 'delivery' ? message.delivery : []))
  await until(() => heard().flatMap(({ replies }) => replies).length === 5_001 && heard().some(({ grants }) => grants.length > 0))
  client.send({ type: 'ping', nonce: 1 })
  await client.said('pong')
  expect(heard().flatMap(({ grants }) => grants)).toHaveLength(1)
  expect(heard().flatMap(({ notices }) => notices)).toHaveLength(1)
  expect(heard().flatMap(({ replies }) => replies.filter(({ refusal }) => refusal !== undefined))).toEqual([])
})

test('an answer that no client takes is refused, and all else of its delivery arrives once', async () => {
  const grant = { session: 's', seq: 1, node: 1, enqueuedAt: 1, name: 'a', queue: 'default', run: 1, attempt: 1, maxAttempts: 1 }
  const limits = { priority: 0, weight: 1, runAt: 1, timeout: 1, heartbeatTimeout: 1, data: null, checkpoint: null }
  const server = await listen(
    saying((asked) => ({
      replies: [
        { id: asked + 1, value: true },
        { id: asked, value: Array(10_001).fill(1) },
        { id: asked + 2, value: true },
      ],
      grants: [{ ...grant, ...limits, tags: undefined, meta: undefined }],
      notices: [{ kind: 'reattach' }],
      events: [],
      renewal: 0,
    })),
    `unix:${join(temporaryFolder(), 'sock')}`,
  )
  onTestFinished(() => server.close())
  const client = await welcomed(server.url)
  client.send({ type: 'requests', requests: [{ id: 1, command: { op: 'workers' } }] })
  client.send({ type: 'ping', nonce: 1 })
  await client.said('pong')
  const heard = client.heard.flatMap((message) => (message.type === 'delivery' ? message.delivery : []))
  expect(heard.flatMap(({ replies }) => replies)).toMatchObject([
    { id: 2, value: true },
    { id: 1, refusal: { code: 'TOO_LARGE', message: expect.stringContaining('at most 10,000 items, got 10,001') } },
    { id: 3, value: true },
  ])
  expect([heard.flatMap(({ grants }) => grants).length, heard.flatMap(({ notices }) => notices).length]).toEqual([1, 1])
})
