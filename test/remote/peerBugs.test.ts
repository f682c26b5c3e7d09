/** What happened to others between processes, and must not happen here: named after docs/other-bugs.md, which tells of it. */
import { Engine } from '@millrace/client'
import { LIMITS } from '@millrace/core'
import { defineJob } from '@millrace/remote'
import { connectPort } from '@millrace/remote/internal'
import { VirtualClock } from '@millrace/testkit'
import { quiet, seededRandom } from '@millrace/testkit/internal'
import { encodeMessage } from '@millrace/wire'
import { expect, onTestFinished, test } from 'vitest'
import { FaultyProxy } from './proxy.ts'
import { HELLO, RawClient, welcomed } from './rawClient.ts'
import { type Served, serve } from './served.ts'
import { until } from './until.ts'

const SECOND = 1_000
const LEASE = 10 * SECOND
const job = defineJob({ name: 'a', heartbeatTimeout: LEASE, timeout: '1h', maxAttempts: 5 })
const [token, other] = ['first first first first', 'other other other other']

/** A process of its own with a clock of its own: what stops it does not stop the engine. */
async function processAt(url: string, given: { readonly token?: string } = {}) {
  const clock = new VirtualClock()
  const port = await connectPort(url, given, { clock, random: seededRandom(2) })
  const engine = new Engine(port, { maxDataBytes: LIMITS.dataBytes, clock, host: 'far', pid: 2, local: false })
  onTestFinished(() => port.close())
  return { clock, port, engine }
}

interface Run {
  readonly run: number
  readonly signal: AbortSignal
  end(): void
}

/** Runs that end when they are told to, whatever their signal says. */
function patient() {
  const runs: Run[] = []
  const handler = job.handler(
    ({ job: { run }, signal }) => new Promise((resolve) => void runs.push({ run, signal, end: () => resolve(`run ${run}`) })),
  )
  return { runs, handler }
}

/** What the engine is told, by its names. */
function listenIn({ engine: { actor } }: Served): string[] {
  const heard: string[] = []
  const receive = actor.receive.bind(actor)
  actor.receive = (connection, requests) => {
    for (const { command } of requests) heard.push(command.op)
    receive(connection, requests)
  }
  return heard
}

/** Time passes for everybody, a second at a time, until something is so. */
async function together(clocks: readonly VirtualClock[], condition: () => boolean): Promise<void> {
  for (let round = 0; !condition(); round++) {
    await quiet()
    if (round % 20 === 19) for (const clock of clocks) await clock.advance(SECOND)
  }
}

test('auth-failure-leaves-disconnected: what is said with a wrong token, or before it was looked at, is heard by nobody', async () => {
  const served = await serve({ listen: { token } })
  const heard = listenIn(served)
  const hasty = new RawClient(served.url)
  const requests = { type: 'requests', requests: [{ id: 1, command: { op: 'stats' } }] } as const
  await hasty.bytes(Buffer.concat([encodeMessage({ ...HELLO, token: other }), encodeMessage(requests)]))
  expect(await hasty.said('goodbye')).toMatchObject({ code: 'AUTH_FAILED' })
  await hasty.gone()
  expect(hasty.heard).toHaveLength(1)
  await expect(connectPort(served.url, { token: other }, { clock: served.clock, random: seededRandom(3) })).rejects.toMatchObject({
    code: 'AUTH_FAILED',
  })
  expect(heard).toEqual([])
  expect(served.server.connections).toBe(0)
})

test('auth-failure-leaves-disconnected: a client whose token is good no longer says so to every call, and its jobs are nowhere', async () => {
  const first = await serve({ listen: { token } })
  const { url } = first
  const far = await processAt(url, { token })
  await far.engine.enqueue('a')
  await first.close()
  const second = await serve({ url, listen: { token: other } })
  const heard = listenIn(second)
  // Held until there is a connection; there is never one.
  const held = expect(far.engine.enqueue('a')).rejects.toMatchObject({ code: 'AUTH_FAILED' })
  let over = false
  void held.then(() => {
    over = true
  })
  await together([far.clock, second.clock], () => over)
  await held
  await expect(far.engine.enqueue('a')).rejects.toMatchObject({ code: 'AUTH_FAILED' })
  expect(heard).toEqual([])
  expect(second.server.connections).toBe(0)
})

test.each([
  ['an endless length', Uint8Array.of(0xff, 0xff, 0xff, 0xff)],
  ['no array', Uint8Array.of(0, 0, 0, 1, 0xc0)],
  ['arrays in arrays', Uint8Array.from([0, 0, 1, 0, ...Array.from({ length: 256 }, () => 0x91)])],
  ['an array of four thousand million', Uint8Array.of(0, 0, 0, 6, 0x92, 0x02, 0xdd, 0xff, 0xff, 0xff)],
  ['noise', Uint8Array.from({ length: 300 }, (_, at) => (at * 7919) % 251)],
])('malformed-frame-no-crash: %s ends one connection; whoever else is there works on', async (_what, bytes) => {
  const served = await serve()
  const { runs, handler } = patient()
  const near = await processAt(served.url)
  const worker = near.engine.work(handler)
  const handle = await near.engine.enqueue(job)
  await until(() => runs.length === 1)
  for (const client of [new RawClient(served.url), await welcomed(served.url)]) {
    await client.bytes(bytes)
    client.socket.end()
    await client.gone()
  }
  runs[0]?.end()
  expect(await handle.result()).toBe('run 1')
  await (await served.probe()).barrier()
  await worker.stop()
})

test('late-heartbeat-tick-self-aborts: a tick that comes after the lease ends the run, and two finishers there are not', async () => {
  const served = await serve()
  const late = patient()
  const proxy = await new FaultyProxy(served.url).open()
  const far = await processAt(proxy.url)
  far.engine.work(late.handler, { id: 'late' })
  const handle = await far.engine.enqueue(job)
  await until(() => late.runs.length === 1)
  const next = patient()
  const near = await processAt(served.url)
  near.engine.work(next.handler, { id: 'next' })
  await near.engine.stats()
  // Its timers do not fire for longer than its lease, and nothing comes that would tell it; the others' do.
  proxy.hold('down')
  far.clock.stall(LEASE + 9 * SECOND)
  await together([served.clock, near.clock], () => next.runs.length === 1)
  expect(late.runs[0]?.signal.aborted).toBe(false)
  await far.clock.advance(0)
  expect(late.runs[0]?.signal).toMatchObject({ aborted: true, reason: { code: 'LEASE_LOST' } })
  // Whatever its handler makes of that counts for nothing.
  late.runs[0]?.end()
  proxy.release()
  await far.engine.stats()
  expect(await far.engine.get(handle.id)).toMatchObject({ state: 'active', run: 2 })
  next.runs[0]?.end()
  expect(await handle.result()).toBe('run 2')
})

test("event-loop-block-2x-lease: a worker that was blocked for two leases loses its own runs, and nobody else's", async () => {
  const served = await serve()
  const blocked = patient()
  const far = await processAt(served.url)
  far.engine.work(blocked.handler, { id: 'blocked', concurrency: 1 })
  const lost = await far.engine.enqueue(job)
  await until(() => blocked.runs.length === 1)
  const fine = patient()
  const near = await processAt(served.url)
  near.engine.work(fine.handler, { id: 'fine', concurrency: 2 })
  const kept = await near.engine.enqueue(job)
  await until(() => fine.runs.length === 1)
  far.clock.stall(2 * LEASE)
  await together([served.clock, near.clock], () => fine.runs.length === 2)
  expect(fine.runs.map(({ run, signal }) => [run, signal.aborted])).toEqual([
    [1, false],
    [2, false],
  ])
  // It returns before any timer has told it; that counts for nothing.
  blocked.runs[0]?.end()
  await quiet()
  await far.clock.advance(0)
  await far.engine.stats()
  expect(await far.engine.get(lost.id)).toMatchObject({ state: 'active', run: 2 })
  for (const run of fine.runs) run.end()
  expect(await Promise.all([lost.result(), kept.result()])).toEqual(['run 2', 'run 1'])
})

test('reap-then-reregister: a worker that was away past its lease comes back, and is handed jobs as before', async () => {
  const served = await serve()
  const proxy = await new FaultyProxy(served.url).open()
  const { runs, handler } = patient()
  const far = await processAt(proxy.url)
  far.engine.work(handler, { concurrency: 1 })
  const handle = await far.engine.enqueue(job)
  await until(() => runs.length === 1)
  proxy.refuse(true)
  const { actor } = served.engine
  await together([served.clock, far.clock], () => runs[0]?.signal.aborted === true && actor.tables.sessions.size === 0)
  runs[0]?.end()
  proxy.refuse(false)
  await together([served.clock, far.clock], () => runs.length === 2)
  expect(runs[1]).toMatchObject({ run: 2, signal: { aborted: false } })
  runs[1]?.end()
  await expect(handle.result()).resolves.toBe('run 2')
})

test('drain-keeps-heartbeat: while a worker of another process stops, its last runs keep their leases', async () => {
  const served = await serve()
  const { runs, handler } = patient()
  const far = await processAt(served.url)
  const worker = far.engine.work(handler)
  const handle = await far.engine.enqueue(job)
  await until(() => runs.length === 1)
  const stopped = worker.stop({ timeout: '1h' })
  for (let second = 0; second < 60; second++) {
    await far.clock.advance(SECOND)
    // Answered after whatever has been renewed.
    await far.engine.stats()
    await served.clock.advance(SECOND)
  }
  expect(runs).toMatchObject([{ run: 1, signal: { aborted: false } }])
  runs[0]?.end()
  await stopped
  expect(await handle.result()).toBe('run 1')
})
