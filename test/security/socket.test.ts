/** Attacks on a listening server, by clients that have a token and say what they like. */
import { Engine } from '@millrace/client'
import { type JobView, LIMITS } from '@millrace/core'
import { expect, test } from 'vitest'
import { type RawClient, welcomed } from '../remote/rawClient.ts'
import { type Served, serve } from '../remote/served.ts'
import { until } from '../remote/until.ts'

const MIB = 2 ** 20

/** An engine of another process, as its user has it. */
async function connected({ port, clock }: Served): Promise<Engine> {
  return new Engine(await port(), { maxDataBytes: LIMITS.dataBytes, clock, host: 'host', pid: 1, local: false })
}

/** Lets sockets and the engine work, and answers the most that the server has held unread meanwhile. */
async function mostUnread({ server }: Served, rounds: number): Promise<number> {
  let most = 0
  for (let round = 0; round < rounds; round++) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    most = Math.max(most, server.unreadBytes)
  }
  return most
}

test('more queues or sessions than an answer can have come page by page', async () => {
  const served = await serve({ settings: { maxQueues: 20_000 } })
  const [producer, worker, engine] = [await welcomed(served.url), await welcomed(served.url), await connected(served)]
  for (let from = 0; from < 10_500; from += 3_500) {
    const jobs = Array.from({ length: 3_500 }, (_, index) => ({ name: 'n', queue: `q${from + index}`, data: '1' }))
    await producer.ask({ op: 'enqueue', jobs })
  }
  const session = { worker: 'w', host: 'h', pid: 1, handlers: [{ name: 'm', defaults: {} }], minConcurrency: 1, maxConcurrency: 1 }
  for (const client of [producer, worker]) {
    for (let index = 0; index < 5_100; index++) {
      const uuid = `${client === worker}-${index}`
      const command = { op: 'attach' as const, held: [], session: { ...session, uuid, abortGrace: 1_000, local: false } }
      client.send({ type: 'requests', requests: [{ id: 1_000 + index, command }] })
    }
    await client.ask({ op: 'unwatch', request: 0 })
  }
  const names = (await engine.queues.list()).map(({ name }) => name)
  expect([names.length, new Set(names).size]).toEqual([10_500, 10_500])
  expect(await engine.workers()).toHaveLength(10_200)
  // A client that asks for all at once, as those of before did, is told what one answer may have.
  expect((await producer.ask({ op: 'queues' })).value).toHaveLength(LIMITS.unpaged)
  const { queues, queuesLeftOut, states } = await engine.stats()
  expect([Object.keys(queues).length, queuesLeftOut, states.waiting]).toEqual([LIMITS.statsQueues, 9_500, 10_500])
  await engine.enqueue('after', 1)
  expect(served.server.connections).toBe(3)
  await engine.stop({ timeout: 0 })
})

test('ten clients that ask for lists and never read hold next to nothing, and are not answered again', async () => {
  const served = await serve()
  const engine = await connected(served)
  const data = 'x'.repeat(4 * 1_024)
  await engine.enqueueMany(Array.from({ length: 200 }, () => ({ job: 'a', data })))
  const readers = await Promise.all(Array.from({ length: 10 }, () => welcomed(served.url)))
  for (const { socket } of readers) socket.pause()
  for (const reader of readers) {
    for (let id = 0; id < 60; id++) reader.send({ type: 'requests', requests: [{ id, command: { op: 'list', filter: {}, limit: 200 } }] })
  }
  // Each answer has 0.8 MiB: 0.5 GiB in all.
  const most = await mostUnread(served, 2_000)
  expect(most).toBeGreaterThan(10 * MIB)
  expect(most).toBeLessThan(30 * MIB)
  // Others are served, and those that read in the end are answered.
  await engine.enqueue('b', 1)
  expect(served.server.connections).toBe(11)
  const [first] = readers as [RawClient]
  first.socket.resume()
  await until(() => first.replies.length === 60)
  await engine.stop({ timeout: 0 })
})

test('what cannot wait has one budget for all: the greediest is closed first, and the server never holds more', async () => {
  const served = await serve({ listen: { maxUnreadBytes: 64 * MIB } })
  const engine = await connected(served)
  await engine.enqueue('a', 'x'.repeat(900 * 1_024))
  const readers = await Promise.all(Array.from({ length: 10 }, () => welcomed(served.url)))
  const [bystander, ...greedy] = readers as [RawClient, ...RawClient[]]
  const jobs = (await bystander.ask({ op: 'list', filter: {}, limit: 1 })).value as { readonly jobs: readonly JobView[] }
  const { seq, node, enqueuedAt } = jobs.jobs[0] as JobView
  bystander.socket.pause()
  bystander.send({ type: 'requests', requests: [{ id: 100, command: { op: 'get', id: { seq, node, enqueuedAt } } }] })
  for (const [index, reader] of greedy.entries()) {
    reader.socket.pause()
    // All at once, of 5, 10, 15 ... jobs: before it could be seen that nobody reads.
    const requests = Array.from({ length: 5 * (index + 1) }, (_, id) => ({
      id,
      command: { op: 'get' as const, id: { seq, node, enqueuedAt } },
    }))
    reader.send({ type: 'requests', requests })
  }
  expect(await mostUnread(served, 3_000)).toBeLessThanOrEqual(64 * MIB)
  expect(served.server.connections).toBeLessThan(11)
  await engine.enqueue('b', 1)
  bystander.socket.resume()
  await until(() => bystander.heard.length === 3)
  await engine.stop({ timeout: 0 })
})
