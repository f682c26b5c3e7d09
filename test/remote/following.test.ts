/** `events()` over a socket: connections break, and the same iteration goes on behind its cursor. */
import { Engine } from '@millrace/client'
import { type Clock, LIMITS } from '@millrace/core'
import { openEngine } from '@millrace/engine'
import { connect, listen } from '@millrace/remote'
import { quiet } from '@millrace/testkit'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
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

test('a reader that leaves leaves nothing behind at the server', async () => {
  const served = await serve()
  const reader = new Engine(await served.port(), setup(served.clock))
  const stream = reader.events()
  const waits = stream.next()
  await until(() => served.engine.actor.followers.any)
  await stream.return()
  expect(await waits).toEqual({ done: true, value: undefined })
  await until(() => !served.engine.actor.followers.any)
  const other = reader.events().next()
  other.catch(() => {})
  await until(() => served.engine.actor.followers.any)
  await reader.stop()
  await until(() => !served.engine.actor.followers.any)
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
