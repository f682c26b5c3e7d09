/** Connections break; what was under way is of unknown outcome, and everything else goes on. */
import { Engine } from '@millrace/client'
import { LIMITS, type PortListener, type Refusal } from '@millrace/core'
import { openEngine } from '@millrace/engine'
import { defineJob, listen } from '@millrace/remote'
import { connectPort, type RemotePort } from '@millrace/remote/internal'
import { quiet, sessionIntro } from '@millrace/testkit/internal'
import { expect, test } from 'vitest'
import { temporaryFile, temporaryFolder } from '../temporary.ts'
import { FaultyProxy } from './proxy.ts'
import { type Served, serve } from './served.ts'
import { until } from './until.ts'

const MINUTE = 60_000

/** What a Port has said about itself. */
function listenTo(port: RemotePort) {
  const said: (string | Refusal)[] = []
  const listener: PortListener = {
    deliver: () => {},
    broken: (refusal) => void said.push(refusal),
    reopened: () => void said.push('reopened'),
    lapsed: (ms) => void said.push(`lapsed ${ms}`),
    ended: (refusal) => void said.push('ended', refusal),
  }
  port.listen(listener)
  return said
}

/** Lets retries be due until something is so. */
async function advanceUntil({ clock }: Served, condition: () => boolean): Promise<void> {
  for (let round = 0; !condition(); round++) {
    await quiet()
    if (round % 20 === 19) await clock.advance(100)
  }
}

async function engineThrough(served: Served, url: string): Promise<Engine> {
  const port = await served.port({}, url)
  return new Engine(port, { maxDataBytes: LIMITS.dataBytes, clock: served.clock, host: 'far', pid: 2, local: false })
}

test('a cut is told once, with its remedy, and healed by itself', async () => {
  const served = await serve()
  const proxy = await new FaultyProxy(served.url).open()
  const port = await served.port({}, proxy.url)
  const said = listenTo(port)
  proxy.cut()
  await until(() => said.length === 1)
  expect(said).toMatchObject([{ code: 'CONNECTION_LOST', message: expect.stringContaining('idempotencyKey') }])
  await advanceUntil(served, () => said.length === 2)
  expect(said[1]).toBe('reopened')
})

test('calls that were sent reject with ConnectionLostError; those made meanwhile go when there is a connection again', async () => {
  const served = await serve()
  const proxy = await new FaultyProxy(served.url).open()
  const engine = await engineThrough(served, proxy.url)
  proxy.hold('down')
  const sent = engine.enqueue('a')
  const outcome = expect(sent).rejects.toMatchObject({ name: 'ConnectionLostError', retryable: true })
  await until(() => served.engine.actor.tables.nextSeq > 1)
  proxy.refuse(true)
  proxy.release()
  await outcome
  const made = engine.enqueue('a')
  proxy.refuse(false)
  let id = ''
  void made.then((handle) => {
    id = handle.id
  })
  await advanceUntil(served, () => id !== '')
  // Both were created: that is what unknown means.
  expect((await engine.stats()).states.waiting).toBe(2)
})

test('attempts are ever further apart, and chance keeps clients apart', async () => {
  const served = await serve()
  const proxy = await new FaultyProxy(served.url).open()
  const port = await served.port({ reconnect: { minDelay: 100, maxDelay: 1_000 } }, proxy.url)
  const said = listenTo(port)
  proxy.refuse(true)
  await until(() => said.length === 1)
  const before = proxy.connections
  for (let at = 0; at < 60_000; at += 100) await served.clock.advance(100)
  const attempts = proxy.connections - before
  // On average every 500 ms once the delays are at their most.
  expect(attempts).toBeGreaterThan(60)
  expect(attempts).toBeLessThan(200)
  proxy.refuse(false)
  await advanceUntil(served, () => said.includes('reopened'))
})

test('a server that closes says so: its clients come back to the next one', async () => {
  const file = temporaryFile()
  const first = await serve({ file })
  const port = await first.port()
  const said = listenTo(port)
  const { url, clock } = first
  await first.server.close()
  first.engine.close()
  await until(() => said.length === 1)
  expect(said).toMatchObject([{ code: 'CONNECTION_LOST' }])
  const second = await serve({ file, url, clock })
  await advanceUntil(second, () => said.length === 2)
  expect(said[1]).toBe('reopened')
})

test('an engine that stops ends the connections to it, and clients are told to come back', async () => {
  const engine = await openEngine({ file: ':memory:' })
  await using server = await listen(engine, `unix:${temporaryFolder()}/sock`)
  const port = await connectPort(server.url)
  const said = listenTo(port)
  await engine.stop()
  await until(() => said.length === 1)
  expect(said).toMatchObject([{ code: 'CONNECTION_LOST', message: expect.stringContaining('the server is closing') }])
  await port.close()
})

test('a token that is no longer good ends it for good', async () => {
  const token = 'first first first first'
  const first = await serve({ listen: { token } })
  const port = await first.port({ token })
  const said = listenTo(port)
  const { url, clock } = first
  await first.server.close()
  await until(() => said.length === 1)
  const second = await serve({ url, clock, listen: { token: 'other other other other' } })
  await advanceUntil(second, () => said.length === 3)
  expect(said.slice(1)).toMatchObject(['ended', { code: 'AUTH_FAILED' }])
})

test('a worker that returns within its lease keeps its run', async () => {
  const served = await serve()
  const proxy = await new FaultyProxy(served.url).open()
  const engine = await engineThrough(served, proxy.url)
  const { promise: release, resolve: finish } = Promise.withResolvers<void>()
  const runs: number[] = []
  const job = defineJob({ name: 'a', heartbeatTimeout: MINUTE, timeout: '1h' })
  engine.work(
    job.handler(async ({ job: { run }, signal }) => {
      runs.push(run)
      await release
      return signal.aborted
    }),
    { concurrency: 2 },
  )
  const handle = await engine.enqueue(job)
  await until(() => runs.length === 1)
  proxy.cut()
  await advanceUntil(
    served,
    () => proxy.connections === 2 && (served.engine.actor.tables.sessions.values().next().value?.connection ?? -1) >= 0,
  )
  finish()
  const result = handle.result()
  await expect(result).resolves.toBe(false)
  expect(runs).toEqual([1])
  await engine.stop()
})

test('a worker that is cut off past its lease ends its run before anybody else gets it', async () => {
  const served = await serve()
  const proxy = await new FaultyProxy(served.url).open()
  const engine = await engineThrough(served, proxy.url)
  const job = defineJob({ name: 'a', heartbeatTimeout: MINUTE, timeout: '1h', maxAttempts: 3 })
  const told: { readonly atMono: number; readonly reason: unknown }[] = []
  let running = 0
  engine.work(
    job.handler(
      ({ signal }) =>
        new Promise((resolve) => {
          running++
          signal.addEventListener('abort', () => {
            told.push({ atMono: served.clock.read().mono, reason: signal.reason })
            resolve(undefined)
          })
        }),
    ),
  )
  const handle = await engine.enqueue(job)
  await until(() => running === 1)
  proxy.refuse(true)
  const other = await served.probe()
  await other.attach(['a'], { uuid: 'other', local: false })
  const fromMono = served.clock.read().mono
  let granted = -1
  void other.grants.take().then(() => {
    granted = served.clock.read().mono
  })
  for (let second = 0; second < 130 && granted < 0; second++) {
    await served.clock.advance(1_000)
    await other.barrier()
  }
  expect(told).toMatchObject([{ reason: { code: 'LEASE_LOST' } }])
  expect(granted).toBeGreaterThan(told[0]?.atMono ?? Number.POSITIVE_INFINITY)
  expect(granted - fromMono).toBeLessThanOrEqual(MINUTE + 16_000)
  // What it says too late counts for nothing.
  proxy.refuse(false)
  await advanceUntil(
    served,
    () => told.length === 1 && [...served.engine.actor.tables.sessions.values()].every(({ connection }) => connection !== undefined),
  )
  await other.call<'complete'>({ op: 'complete', seq: 1, run: 2, output: '"other"' })
  expect(await (await engine.get(handle.id))?.output).toBe('other')
})

test('attach and its renewal go before what was held back', async () => {
  const served = await serve()
  const proxy = await new FaultyProxy(served.url).open()
  const engine = await engineThrough(served, proxy.url)
  engine.work(defineJob({ name: 'a' }).handler(() => 1))
  await engine.stats()
  proxy.refuse(true)
  await until(() => (served.engine.actor.tables.sessions.values().next().value?.connection ?? -1) < 0)
  const held = engine.enqueue('b')
  const heard: string[] = []
  const { actor } = served.engine
  const receive = actor.receive.bind(actor)
  actor.receive = (connection, requests) => {
    heard.push(...requests.map(({ command }) => command.op))
    receive(connection, requests)
  }
  proxy.refuse(false)
  let done = false
  void held.then(() => {
    done = true
  })
  await advanceUntil(served, () => done)
  expect(heard.filter((op) => op !== 'unwatch').slice(0, 3)).toEqual(['renew', 'attach', 'enqueue'])
})

test('a Port that is closed lets go, and its session is away', async () => {
  const served = await serve()
  const probe = await served.probe()
  await probe.call<'attach'>({ op: 'attach', session: sessionIntro(['a'], { local: false }), held: [] })
  await probe.port.close()
  await until(() => served.server.connections === 0)
  const [session] = served.engine.actor.tables.sessions.values()
  expect(session?.connection).toBeUndefined()
})
