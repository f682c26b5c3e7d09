/** `events()` over a socket: connections break, and the same iteration goes on behind its cursor. */
import { Engine } from '@millrace/client'
import { type Clock, LIMITS } from '@millrace/core'
import { defineJob, openEngine } from '@millrace/engine'
import { connect, listen } from '@millrace/remote'
import { quiet } from '@millrace/testkit/internal'
import { expect, test } from 'vitest'
import { temporaryFile, temporaryFolder } from '../temporary.ts'
import { FaultyProxy } from './proxy.ts'
import { serve } from './served.ts'
import { until } from './until.ts'

const setup = (clock: Clock) => ({ maxDataBytes: LIMITS.dataBytes, clock, host: 'far', pid: 2, local: false })

test('a connection that is cut, before and after the answer has left, costs no event and repeats none', async () => {
  const served = await serve()
  const proxy = await new FaultyProxy(served.url).open()
  const producer = new Engine(await served.port(), setup(served.clock))
  const reader = new Engine(await served.port({}, proxy.url), setup(served.clock))
  const seen: number[] = []
  const reading = (async () => {
    for await (const item of reader.events()) {
      seen.push(item.type === 'gap' ? -1 : item.seq)
      if (seen.length === 60) break
    }
  })()
  for (let round = 0; round < 6; round++) {
    // The answer is under way, or the question waits, or neither is there yet.
    if (round % 3 === 0) proxy.hold('down')
    await producer.enqueueMany(Array.from({ length: 10 }, () => ({ job: 'a' })))
    if (round % 3 === 1) await until(() => seen.length === 10 * (round + 1))
    proxy.cut()
    proxy.release()
    for (let step = 0; step < 3; step++) {
      await quiet()
      await served.clock.advance(1_000)
    }
  }
  const end = (async () => {
    while (seen.length < 60) {
      await quiet()
      await served.clock.advance(100)
    }
  })()
  await Promise.all([reading, end])
  expect(seen).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
})

test('result() waits on through a cut, and through a server that is another by the time it is back', async () => {
  const file = temporaryFile()
  const first = await serve({ file })
  const { url, clock } = first
  const waiter = new Engine(await first.port(), setup(clock))
  const job = defineJob<number>({ name: 'a' })
  const handle = await waiter.enqueue(job, 3, { idempotencyKey: 'k' })
  let output: unknown
  void handle.result().then((value) => {
    output = value
  })
  const late = handle.result({ timeout: '1s' }).catch((error: unknown) => error)
  await until(() => first.engine.actor.tables.nextSeq > 1)
  await first.server.close()
  first.engine.close()
  const second = await serve({ file, url, clock })
  for (let step = 0; step < 5; step++) {
    await quiet()
    await clock.advance(1_000)
  }
  expect(await late).toMatchObject({ code: 'RESULT_TIMEOUT' })
  const worker = new Engine(second.engine.port(), { ...setup(clock), local: true })
  worker.work(job.handler(({ data }) => data * data))
  await until(() => output !== undefined)
  expect(output).toBe(9)
  // Another process has only the key.
  const other = new Engine(await second.port(), setup(clock))
  const same = await other.enqueue(job, 3, { idempotencyKey: 'k' })
  expect([same.created, same.id, await same.result()]).toEqual([false, handle.id, 9])
  // Or its id.
  const known = other.handle<number>(handle.id)
  expect([known.created, known.id, await known.result()]).toEqual([false, handle.id, 9])
  await worker.stop()
})

test('a reader that leaves leaves nothing behind at the server', async () => {
  const served = await serve()
  const reader = new Engine(await served.port(), setup(served.clock))
  const stream = reader.events()
  const waits = stream.next()
  await until(() => served.engine.actor.waiters.events.waiting.size > 0)
  await stream.return()
  expect(await waits).toEqual({ done: true, value: undefined })
  await until(() => served.engine.actor.waiters.events.waiting.size === 0)
  const other = reader.events().next()
  other.catch(() => {})
  await until(() => served.engine.actor.waiters.events.waiting.size > 0)
  await reader.stop()
  await until(() => served.engine.actor.waiters.events.waiting.size === 0)
  await expect(other).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
})

test('through the real server: kept and live, with a filter', async () => {
  await using engine = await openEngine({ file: ':memory:' })
  await using server = await listen(engine, `unix:${temporaryFolder()}/sock`)
  await using far = await connect(server.url)
  await engine.enqueue('a')
  await engine.enqueue('b')
  const stream = far.events({ filter: { name: 'b' } })
  expect((await stream.next()).value).toMatchObject({ seq: 2, name: 'b', at: expect.any(Date) })
  const next = stream.next()
  await engine.enqueue('a')
  await engine.enqueue('b')
  expect((await next).value).toMatchObject({ seq: 4 })
})
