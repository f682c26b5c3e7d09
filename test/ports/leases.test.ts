// N4: sessions of other processes, under the virtual clock: away, back, silent, lost; and their engine dies.

import { join } from 'node:path'
import { systemCalendar } from '@millrace/client/calendar'
import { DEFAULT_RETENTION } from '@millrace/core'
import { type Store, StoreFailure } from '@millrace/core/kernel'
import { InThreadEngine } from '@millrace/engine/internal'
import { openStore } from '@millrace/sqlite'
import { VirtualClock } from '@millrace/testkit'
import { Probe, seededRandom } from '@millrace/testkit/internal'
import { processKey } from '@millrace/worker/process'
import { afterEach, expect, test } from 'vitest'
import { watchDeaths } from '../../packages/engine/src/writer/deaths.ts'
import { holdingsOf } from '../../packages/testkit/src/testing/holdings.ts'
import { temporaryFolder } from '../temporary.ts'

const MINUTE = 60_000
const remote = { uuid: 'remote', worker: 'far', local: false, minConcurrency: 2, maxConcurrency: 2 }
/** A lease of a minute, and no deadline to speak of. */
const job = { heartbeatTimeout: MINUTE, timeout: 100 * MINUTE, maxAttempts: 3 }

const engines: InThreadEngine[] = []

afterEach(() => {
  for (const engine of engines.splice(0)) engine.close()
})

function start(file = ':memory:', clock = new VirtualClock(), around = (write: () => void) => write()) {
  const random = seededRandom(7)
  const opened = openStore({ file, durability: 'normal', random, now: clock.read().wall, host: 'host', pid: 1 })
  const store: Store = { ...opened, write: (effects, header) => around(() => opened.write(effects, header)) }
  const engine = new InThreadEngine({
    store,
    clock,
    random,
    settings: { recovery: 'immediate', retention: DEFAULT_RETENTION, calendar: systemCalendar },
  })
  engines.push(engine)
  return { clock, engine, connect: () => new Probe(engine.port()) }
}

test('a session whose connection ends is away: it keeps its run, gets no other, and goes on where it comes back', async () => {
  const { clock, connect } = start()
  const bystander = connect()
  await bystander.attach(['b'], { uuid: 'near' })
  await bystander.enqueue('b', job)
  const lost = connect()
  await lost.attach(['a'], remote)
  await bystander.enqueue('a', job)
  const { seq, run } = await lost.grants.take()
  await lost.port.close()
  await bystander.enqueue('a', job)
  await clock.advance(MINUTE - 1)
  expect(await bystander.call<'workers'>({ op: 'workers' })).toMatchObject([
    { id: 'worker-1', away: false, runningJobs: 1 },
    { id: 'far', away: true, runningJobs: 1 },
  ])
  const back = connect()
  expect(await back.attach(['a'], remote, [{ seq, run }])).toEqual({ lost: [] })
  expect((await back.grants.take()).seq).toBe(seq + 1)
  await clock.advance(MINUTE - 1)
  await back.call<'complete'>({ op: 'complete', seq, run, output: null })
  expect((await bystander.call<'stats'>({ op: 'stats' })).states).toMatchObject({ completed: 1, active: 2 })
})

test('one that does not come back loses each job at the end of its own lease, and is forgotten', async () => {
  const { clock, connect } = start()
  const probe = connect()
  const lost = connect()
  await lost.attach(['a'], remote)
  await probe.enqueue('a', job)
  await probe.enqueue('a', { ...job, heartbeatTimeout: 2 * MINUTE })
  await lost.grants.take()
  await lost.grants.take()
  await lost.port.close()
  await probe.attach(['a'], { uuid: 'next' })
  await clock.advance(MINUTE)
  expect(await probe.grants.take()).toMatchObject({ seq: 1, run: 2, attempt: 2 })
  expect(probe.grants.size).toBe(0)
  await clock.advance(MINUTE)
  expect(await probe.grants.take()).toMatchObject({ seq: 2, run: 2, attempt: 2 })
  expect((await probe.call<'workers'>({ op: 'workers' })).length).toBe(1)
  await expect(probe.call<'complete'>({ op: 'complete', seq: 1, run: 1, output: null })).rejects.toMatchObject({ code: 'STALE_RUN' })
})

test('a job with heartbeatTimeout 0 has the usual lease: its worker may die all the same', async () => {
  const { clock, connect } = start()
  const lost = connect()
  await lost.attach(['a'], remote)
  await lost.enqueue('a', { ...job, heartbeatTimeout: 0 })
  await lost.grants.take()
  await lost.port.close()
  const probe = connect()
  await probe.attach(['a'], { uuid: 'next' })
  await clock.advance(2 * MINUTE - 1)
  expect(probe.grants.size).toBe(0)
  await clock.advance(1)
  expect(await probe.grants.take()).toMatchObject({ run: 2 })
})

test('a silent one gets no more jobs until it is heard again', async () => {
  const { clock, connect } = start()
  const quiet = connect()
  await quiet.attach(['a'], remote)
  await quiet.enqueue('a', { ...job, maxAttempts: 1 })
  await quiet.grants.take()
  await clock.advance(MINUTE)
  expect(await quiet.notices.take()).toMatchObject({ kind: 'lost', seq: 1, run: 1 })
  await quiet.enqueue('a', job)
  await quiet.barrier()
  expect(quiet.grants.size).toBe(0)
  await quiet.call<'renew'>({ op: 'renew', renewal: 1 })
  expect(await quiet.grants.take()).toMatchObject({ seq: 2, run: 1 })
})

test('Q3: workers tell when they attached and when they were last heard, by the engine’s clock, through breaks and restarts', async () => {
  const file = join(temporaryFolder(), 'jobs.db')
  const { clock, engine, connect } = start(file)
  const begun = clock.read().wall
  const seen = async (probe: Probe) =>
    (await probe.call<'workers'>({ op: 'workers' })).map((one) => [one.id, one.attachedAt, one.lastSeenAt])
  const near = connect()
  await near.attach(['b'], { uuid: 'near' })
  const far = connect()
  await far.attach(['a'], remote)
  await far.enqueue('a', { ...job, heartbeatTimeout: 10 * MINUTE })
  const { seq, run } = await far.grants.take()
  await clock.advance(20_000)
  // Nothing has been heard of the one; the other is in the engine's own process.
  const now = begun + 20_000
  expect(await seen(near)).toEqual([
    ['worker-1', begun, now],
    ['far', begun, begun],
  ])
  await far.call<'renew'>({ op: 'renew', renewal: 1 })
  await clock.advance(5_000)
  expect(await seen(near)).toEqual([
    ['worker-1', begun, now + 5_000],
    ['far', begun, now],
  ])
  await far.port.close()
  clock.jump(3_600_000)
  expect((await seen(near))[1]).toEqual(['far', begun, now + 3_600_000])
  const back = connect()
  await back.attach(['a'], remote, [{ seq, run }])
  expect((await seen(near))[1]).toEqual(['far', clock.read().wall, clock.read().wall])
  engine.close()
  // On record alone: nobody has heard of it yet.
  const again = start(file, clock).connect()
  expect(await seen(again)).toEqual([['far', 0, 0]])
})

test('Q3: a report lasts through a failed turn, and ends with its connection; others keep theirs', async () => {
  let fails = false
  const { connect } = start(':memory:', new VirtualClock(), (write) => {
    if (fails) throw new StoreFailure('before', 'io', 'SQLITE_IOERR: disk I/O error')
    write()
  })
  const reports = async (probe: Probe) =>
    (await probe.call<'workers'>({ op: 'workers' })).map(({ id, kind, rssBytes }) => [id, kind, rssBytes])
  const near = connect()
  await near.attach(['b'], { uuid: 'near' })
  await near.call<'renew'>({ op: 'renew', renewal: 0, vitals: { rssBytes: 1 } })
  const far = connect()
  await far.attach(['a'], remote)
  await far.call<'renew'>({ op: 'renew', renewal: 1, vitals: { rssBytes: 2 } })
  fails = true
  await expect(near.enqueue('c')).rejects.toMatchObject({ code: 'STORAGE' })
  fails = false
  await near.attach(['b'], { uuid: 'near' })
  await far.attach(['a'], remote)
  await far.enqueue('a', job)
  await far.grants.take()
  expect(await reports(near)).toEqual([
    ['worker-1', 'inline', 1],
    ['far', 'remote', 2],
  ])
  await far.port.close()
  expect(await reports(near)).toEqual([
    ['worker-1', 'inline', 1],
    ['far', 'remote', undefined],
  ])
})

test('a delivery names the last renewal of its own connection that was counted', async () => {
  const { connect } = start()
  const [one, other] = [connect(), connect()]
  await one.attach(['a'], remote)
  expect(one.renewal).toBe(0)
  await one.call<'renew'>({ op: 'renew', renewal: 7 })
  await one.enqueue('a', job)
  await one.grants.take()
  await other.barrier()
  expect([one.renewal, other.renewal]).toEqual([7, 0])
})

test('a local session that attaches and is gone before the turn is lost in it; a remote one is away', async () => {
  const { engine, connect } = start()
  const probe = connect()
  await probe.enqueue('a', job)
  for (const [uuid, local] of [
    ['near', true],
    ['far', false],
  ] as const) {
    const hasty = connect()
    void hasty.attach(['a'], { uuid, local })
    await hasty.port.close()
  }
  await probe.barrier()
  expect([...engine.actor.tables.sessions.keys()]).toEqual(['far'])
  expect((await probe.call<'stats'>({ op: 'stats' })).states).toMatchObject({ waiting: 1, active: 0 })
})

test('15: an engine that starts again gives remote sessions a whole lease to come back, and jobs of its own process at once', async () => {
  const file = `${temporaryFolder()}/jobs.db`
  const clock = new VirtualClock()
  const first = start(file, clock)
  const probe = first.connect()
  await probe.attach(['a'], remote)
  await probe.attach(['b'], { uuid: 'near' })
  await probe.enqueue('a', { ...job, timeout: Number.POSITIVE_INFINITY })
  await probe.enqueue('a', job)
  await probe.enqueue('b', job)
  await clock.advance(MINUTE / 2)
  first.engine.close()
  const { connect } = start(file, clock)
  const next = connect()
  await next.attach(['b'], { uuid: 'next' })
  expect(await next.grants.take()).toMatchObject({ seq: 3, run: 2 })
  await clock.advance(MINUTE - 1)
  // It comes back with one of its two runs: the other one it has never received.
  const back = connect()
  expect(await back.attach(['a'], remote, [{ seq: 1, run: 1 }])).toEqual({ lost: [] })
  expect(await back.grants.take()).toMatchObject({ seq: 2, run: 2, attempt: 1 })
  await back.call<'complete'>({ op: 'complete', seq: 1, run: 1, output: null })
})

test('a session that moves into the process of the engine has no lease any more: dead with it, its jobs run at once', async () => {
  const file = `${temporaryFolder()}/jobs.db`
  const clock = new VirtualClock()
  const first = start(file, clock)
  const probe = first.connect()
  await probe.attach(['a'], remote)
  await probe.enqueue('a', job)
  const { seq, run } = await probe.grants.take()
  first.engine.close()
  const second = start(file, clock)
  expect(await second.connect().attach(['a'], { ...remote, local: true }, [{ seq, run }])).toEqual({ lost: [] })
  second.engine.close()
  const next = start(file, clock).connect()
  await next.attach(['a'], { uuid: 'next' })
  expect(await next.grants.take()).toMatchObject({ seq, run: 2 })
})

test('a session whose process is known to be dead loses its runs at once, whichever is heard first; others keep theirs', async () => {
  const { engine, connect } = start()
  const next = connect()
  for (const uuid of ['before', 'after', 'alive']) {
    const lost = connect()
    await lost.attach([uuid], { ...remote, uuid })
    await next.enqueue(uuid, job)
    await lost.grants.take()
    if (uuid === 'before') engine.actor.declareDead([uuid])
    await lost.port.close()
    if (uuid === 'after') engine.actor.declareDead([uuid])
  }
  await next.attach(['before', 'after', 'alive'], { uuid: 'next' })
  expect([(await next.grants.take()).seq, (await next.grants.take()).seq].sort()).toEqual([1, 2])
  await next.barrier()
  expect(next.grants.size).toBe(0)
})

test("the next owner sees which processes of the former one's workers are dead, also of one that came back since; others keep their runs", async ({
  skip,
}) => {
  if (process.platform !== 'linux') skip('what tells processes apart is read from /proc')
  const file = `${temporaryFolder()}/jobs.db`
  const clock = new VirtualClock()
  const dead = processKey().replace(/\d+$/, '0')
  const processes: Readonly<Record<string, string>> = { dead, moved: dead, alive: processKey(), elsewhere: 'boot:space:1:1', older: '' }
  const first = start(file, clock)
  for (const [uuid, key] of Object.entries(processes)) {
    // An older version has noted no process.
    for (const noted of uuid === 'moved' ? ['', key] : [key]) await first.connect().attach([uuid], { ...remote, uuid, process: noted })
    await first.connect().enqueue(uuid, job)
  }
  await first.connect().attach([], { ...remote, uuid: 'idle', process: dead })
  first.engine.close()
  const { engine, connect } = start(file, clock)
  const stop = watchDeaths({ actor: engine.actor, wake: () => {}, clock })
  const next = connect()
  await next.attach(Object.keys(processes), { uuid: 'next', maxConcurrency: 9 })
  expect([(await next.grants.take()).name, (await next.grants.take()).name].sort()).toEqual(['dead', 'moved'])
  expect([...engine.actor.tables.present.keys()].sort()).toEqual(['alive', 'elsewhere', 'next', 'older'])
  await clock.advance(MINUTE - 1)
  await next.barrier()
  expect(next.grants.size).toBe(0)
  stop()
})

test('a dead process whose last word was that its session left: nothing is kept of it', async () => {
  const { engine, connect } = start()
  const [lost, bystander] = [connect(), connect()]
  await bystander.attach(['b'], { ...remote, uuid: 'bystander' })
  const held = () => holdingsOf(engine.actor).get('.dead') ?? 0
  await lost.attach(['a'], { ...remote, uuid: 'lost' })
  const left = lost.call<'leave'>({ op: 'leave', session: 'lost' })
  engine.actor.declareDead(['lost', 'bystander'])
  expect(held()).toBe(2)
  await left
  await lost.port.close()
  await bystander.barrier()
  expect(held()).toBe(1)
  await bystander.port.close()
  await connect().barrier()
  expect(held()).toBe(0)
})

test('a turn that could not be written is decided again as it was: an attach in it takes no run from what came before', async () => {
  const failures: StoreFailure[] = []
  const { clock, connect, engine } = start(':memory:', new VirtualClock(), (write) => {
    const failure = failures.shift()
    if (failure !== undefined) throw failure
    write()
  })
  const [first, next, bystander] = [connect(), connect(), connect()]
  await bystander.attach(['b'], { ...remote, uuid: 'bystander' })
  await first.attach(['a'], remote)
  await first.enqueue('a', job)
  await bystander.enqueue('b', job)
  const [{ seq, run }, other] = [await first.grants.take(), await bystander.grants.take()]
  failures.push(new StoreFailure('before', 'busy', 'another program has the lock'))
  const heard = first.call<'heartbeat'>({ op: 'heartbeat', seq, run })
  const attached = next.attach(['a'], remote, [{ seq, run }])
  // Something to write.
  const enqueued = bystander.enqueue('c', job)
  await clock.advance(1_000)
  expect(engine.actor.meter.reloads).toBe(1)
  await Promise.all([heard, enqueued])
  expect(await attached).toEqual({ lost: [] })
  await expect(first.call<'complete'>({ op: 'complete', seq, run, output: null })).rejects.toMatchObject({ code: 'STALE_RUN' })
  await next.call<'complete'>({ op: 'complete', seq, run, output: null })
  await bystander.call<'complete'>({ op: 'complete', seq: other.seq, run: other.run, output: null })
})

test('an attach that could not be written is refused, and heard all the same: what comes behind it is not stale', async () => {
  const failures: StoreFailure[] = []
  const { clock, connect } = start(':memory:', new VirtualClock(), (write) => {
    const failure = failures.shift()
    if (failure !== undefined) throw failure
    write()
  })
  const [first, next, bystander] = [connect(), connect(), connect()]
  await bystander.attach(['b'], { ...remote, uuid: 'bystander' })
  await first.attach(['a'], remote)
  await first.enqueue('a', job)
  await bystander.enqueue('b', job)
  const [{ seq, run }, other] = [await first.grants.take(), await bystander.grants.take()]
  failures.push(new StoreFailure('before', 'io', 'the disk'))
  const refused = [next.attach(['a'], remote, [{ seq, run }]), bystander.enqueue('c', job)]
  for (const call of refused) call.catch(() => {})
  await clock.advance(1_000)
  for (const call of refused) await expect(call).rejects.toMatchObject({ code: 'STORAGE' })
  await expect(first.call<'complete'>({ op: 'complete', seq, run, output: null })).rejects.toMatchObject({ code: 'STALE_RUN' })
  await next.call<'complete'>({ op: 'complete', seq, run, output: null })
  await bystander.call<'complete'>({ op: 'complete', seq: other.seq, run: other.run, output: null })
})

test('no lease and no deadline ends a run whose worker has spoken in time, however much is decided before its word', async () => {
  let writeMs = 0
  const { clock, connect } = start(':memory:', new VirtualClock(), (write) => {
    write()
    clock.stall(writeMs)
  })
  const [worker, crowd] = [connect(), connect()]
  await worker.attach(['a'], remote)
  const hurried = [{ heartbeatTimeout: 1_000 }, { timeout: 1_000 }].map((hurry) => ({ ...job, ...hurry, name: 'a', data: null }))
  await crowd.call<'enqueue'>({ op: 'enqueue', jobs: hurried })
  const runs = [await worker.grants.take(), await worker.grants.take()]
  writeMs = 600
  const many = Array.from({ length: 2_000 }, () => ({ name: 'c', data: null }))
  const crowded = [1, 2, 3].map(() => crowd.call<'enqueue'>({ op: 'enqueue', jobs: many }))
  await worker.callAll(runs.map(({ seq, run }) => ({ op: 'complete', seq, run, output: null }) as const))
  await Promise.all(crowded)
  const { states } = await crowd.call<'stats'>({ op: 'stats' })
  expect(states).toMatchObject({ completed: 2, waiting: 6_000 })
})

test('and where they do not come back, their jobs run elsewhere after it', async () => {
  const file = `${temporaryFolder()}/jobs.db`
  const clock = new VirtualClock()
  const first = start(file, clock)
  const probe = first.connect()
  await probe.attach(['a'], remote)
  await probe.enqueue('a', { ...job, timeout: Number.POSITIVE_INFINITY })
  first.engine.close()
  const { connect } = start(file, clock)
  const next = connect()
  await next.attach(['a'], { uuid: 'next' })
  await clock.advance(MINUTE - 1)
  expect(next.grants.size).toBe(0)
  await clock.advance(1)
  expect(await next.grants.take()).toMatchObject({ seq: 1, run: 2, attempt: 2 })
})

test('one that is away keeps a run whose lease is longer than the usual one, and gets it back where it returns within that', async () => {
  const { clock, connect } = start()
  const lost = connect()
  await lost.attach(['a'], remote)
  await lost.enqueue('a', { ...job, heartbeatTimeout: 10 * MINUTE })
  const { seq, run } = await lost.grants.take()
  await lost.port.close()
  await clock.advance(9 * MINUTE)
  const back = connect()
  expect(await back.attach(['a'], remote, [{ seq, run }])).toEqual({ lost: [] })
  await back.call<'complete'>({ op: 'complete', seq, run, output: null })
})

test('and where it does not, another gets the job when that lease is over', async () => {
  const { clock, connect } = start()
  const lost = connect()
  await lost.attach(['a'], remote)
  await lost.enqueue('a', { ...job, heartbeatTimeout: 10 * MINUTE })
  await lost.grants.take()
  await lost.port.close()
  const next = connect()
  await next.attach(['a'], { uuid: 'next' })
  await clock.advance(10 * MINUTE - 1)
  expect(next.grants.size).toBe(0)
  await clock.advance(1)
  await next.barrier()
  expect(next.grants.size).toBe(1)
})
