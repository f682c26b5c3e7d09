/** The public interface over a Port: what it asks, what it refuses by itself, and how it ends. */
import {
  type Capability,
  type CommandOf,
  EngineStoppedError,
  type FailedPlace,
  formatId,
  type Grant,
  type JobEvent,
  LIMITS,
  RetryAfterError,
  UniqueConflictError,
  UnsupportedError,
} from '@millrace/core'
import { defineJob, systemClock } from '@millrace/worker'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { ManualClock } from '../../worker/src/testing/manualClock.ts'
import { Engine } from './engine.ts'
import type { EngineSetup } from './setup.ts'
import { FakePort, quiet } from './testing/fakePort.ts'

const a = defineJob({ name: 'a', queue: 'q', maxAttempts: 2 })
const key = { seq: 7, node: 1, enqueuedAt: Date.UTC(2030, 0, 1) }
const id = formatId(key)

let port: FakePort
let engine: Engine
let setup: EngineSetup

function open(change: Partial<EngineSetup> = {}, capabilities?: readonly Capability[]): Engine {
  port = new FakePort(capabilities)
  port.answer('attach', () => ({ lost: [] }))
  port.answer('workers', () => [])
  port.answer('unwatch', () => true)
  for (const op of ['drain', 'leave', 'complete', 'fail', 'giveBack', 'subscribe'] as const) port.answer(op, () => true)
  setup = {
    maxDataBytes: 1_000,
    clock: systemClock,
    host: 'host',
    pid: 5,
    local: true,
    closed: vi.fn(),
    openChannel: vi.fn(() => 'a port'),
    ...change,
  }
  engine = new Engine(port, setup)
  return engine
}

beforeEach(() => {
  open()
})

/** Runs the call with that answer to its one command; answers what it was asked. */
async function asked(call: () => Promise<unknown>, value: unknown = true) {
  const before = port.requests.length
  const result = call()
  await quiet()
  const [request, ...others] = port.requests.slice(before)
  expect(others).toEqual([])
  port.reply(request?.id ?? 0, value)
  return { command: request?.command, result: await result }
}

function grantOf(change: Partial<Grant> & Pick<Grant, 'session'>): Grant {
  return {
    ...key,
    name: 'a',
    queue: 'q',
    run: 1,
    attempt: 1,
    maxAttempts: 2,
    priority: 0,
    weight: 1,
    runAt: key.enqueuedAt,
    timeout: 300_000,
    heartbeatTimeout: 120_000,
    data: null,
    checkpoint: null,
    tags: undefined,
    meta: undefined,
    ...change,
  }
}

const sessionOf = () => port.of('attach').at(-1)?.command.session.uuid ?? 'none'

describe('what is asked', () => {
  test('enqueue: by definition with its defaults, by name without; checked and encoded here', async () => {
    const { command, result } = await asked(() => engine.enqueue(a, { n: 1 }, { priority: 3 }), [{ ...key, created: false }])
    expect(command).toEqual({ op: 'enqueue', jobs: [{ name: 'a', data: '{"n":1}', queue: 'q', maxAttempts: 2, priority: 3 }] })
    expect(result).toMatchObject({ id, created: false })
    expect((await asked(() => engine.enqueue('b'), [{ ...key, created: true }])).command).toEqual({
      op: 'enqueue',
      jobs: [{ name: 'b', data: null }],
    })
  })

  test.for<readonly [method: string, call: () => Promise<unknown>, command: object]>([
    ['cancel', () => engine.cancel(id), { op: 'cancel', id: key }],
    ['retry', () => engine.retry(id), { op: 'retry', id: key }],
    ['runNow', () => engine.runNow(id), { op: 'runNow', id: key }],
    ['delete', () => engine.delete(id), { op: 'delete', id: key }],
    [
      'update',
      () => engine.update(id, { data: { n: 2 }, priority: 1 }),
      { op: 'update', id: key, changes: { data: '{"n":2}', priority: 1 } },
    ],
    ['stats', () => engine.stats(), { op: 'stats' }],
    [
      'stats in part',
      () => engine.stats({ names: 'none', definitions: 'disputed' }),
      { op: 'stats', names: 'none', definitions: 'disputed' },
    ],
    ['workers', () => engine.workers(), { op: 'workers', limit: 500 }],
    ['backup', () => engine.backup('copy.db'), { op: 'backup', file: 'copy.db' }],
  ])('%s: one command', async ([, call, command]) => {
    expect((await asked(call)).command).toEqual(command)
  })

  test('get: undefined where there is none, and not even asked where the text is no id', async () => {
    expect((await asked(() => engine.get(id), null)).result).toBeUndefined()
    const before = port.requests.length
    expect(await engine.get('no id at all')).toBeUndefined()
    expect(port.requests).toHaveLength(before)
  })

  test('a text that is no id of a job: JOB_NOT_FOUND, unasked', async () => {
    for (const call of [
      () => engine.cancel('x'),
      () => engine.retry('x'),
      () => engine.runNow('x'),
      () => engine.delete('x'),
      () => engine.update('x', { priority: 1 }),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'JOB_NOT_FOUND', jobId: 'x' })
    }
    expect(port.posts).toEqual([])
  })

  test('list: with a filter and a cursor that comes back', async () => {
    const first = await asked(() => engine.list({ state: 'failed', queue: 'q', limit: 2 }), { jobs: [], next: 41 })
    expect(first.command).toMatchObject({ op: 'list', filter: { queue: 'q' }, limit: 2 })
    expect(first.command).not.toHaveProperty('before')
    const { next } = first.result as { next: string }
    const second = await asked(() => engine.list({ after: next }), { jobs: [], next: null })
    expect(second.command).toMatchObject({ before: 41 })
    expect(second.result).toEqual({ jobs: [], next: undefined })
  })

  test('list: an order by time goes on by its time, and the oldest first by its place', async () => {
    const page = { jobs: [], next: null }
    const oldest = await asked(() => engine.list({ order: 'oldest' }), { ...page, next: 4 })
    const rest = await asked(() => engine.list({ order: 'oldest', after: (oldest.result as { next: string }).next }), page)
    expect(rest.command).toMatchObject({ ascending: true, before: 4 })
    expect(rest.command).not.toHaveProperty('order')
    const told = await asked(() => engine.list({ state: 'scheduled', order: 'due' }), { ...page, next: 4, nextAt: 7 })
    const { next } = told.result as { next: string }
    const second = await asked(() => engine.list({ state: 'scheduled', order: 'due', after: next }), page)
    expect(second.command).toMatchObject({ order: 'due', before: 4, beforeAt: 7 })
  })

  test('redrive: in slices, each from the place where the last one stopped, up to the limit', async () => {
    const place = (seq: number): FailedPlace => ({ finishedAt: seq, seq })
    const slices = [
      { count: LIMITS.sliceRows, next: place(1), failed: 2_000 },
      { count: 3, next: place(2), failed: 1_500 },
      { count: 0, next: null, failed: 1_497 },
    ]
    port.answer('redrive', () => slices.shift())
    expect(await engine.redrive({ name: 'a' })).toEqual({ count: LIMITS.sliceRows + 3 })
    expect(port.of('redrive').map(({ command }) => command.after)).toEqual([undefined, place(1), place(2)])
    port.answer('redrive', ({ limit }) => ({ count: limit, next: place(9), failed: 10_000 }))
    expect(await engine.redrive({ limit: LIMITS.sliceRows + 7 })).toEqual({ count: LIMITS.sliceRows + 7 })
    expect(
      port
        .of('redrive')
        .slice(3)
        .map(({ command }) => command.limit),
    ).toEqual([LIMITS.sliceRows, 7])
  })

  test('redrive: of those that had failed when it began, so that jobs which fail again at once do not keep it going', async () => {
    let seq = 0
    port.answer('redrive', ({ limit }) => ({ count: limit, next: { finishedAt: ++seq, seq }, failed: LIMITS.sliceRows + 3 }))
    expect(await engine.redrive()).toEqual({ count: LIMITS.sliceRows + 3 })
  })

  test('a refusal is its typed error', async () => {
    port.answer('enqueue', () => new UniqueConflictError('held', { jobId: id }))
    await expect(engine.enqueue(a)).rejects.toMatchObject({ name: 'UniqueConflictError', code: 'UNIQUE_CONFLICT', jobId: id })
  })
})

describe('misuse is refused here, by name, and nothing is asked', () => {
  const handler = a.handler(() => 1)

  test.for<readonly [what: string, call: () => unknown, message: RegExp]>([
    ['enqueue without a job', () => engine.enqueue(undefined as never), /a job is named by its definition/],
    ['enqueue with a name that is none', () => engine.enqueue('a b'), /name/],
    ['enqueue with an unknown option', () => engine.enqueue('a', 1, { dealy: 5 } as never), /dealy.*delay/],
    ['enqueue with an option out of range', () => engine.enqueue('a', 1, { priority: 2_000_000 }), /priority/],
    ['enqueue with data that is no JSON', () => engine.enqueue('a', 1n), /^data cannot be stored as JSON/],
    ['enqueue with more data than is stored', () => engine.enqueue('a', 'x'.repeat(2_000)), /data has at least/],
    ['enqueueMany of nothing', () => engine.enqueueMany(undefined as never), /enqueueMany takes an array/],
    ['get without an id', () => engine.get(undefined as never), /^id must be a string, got undefined$/],
    ['cancel with a number', () => engine.cancel(5 as never), /^id must be a string, got 5$/],
    ['get with an empty id', () => engine.get(''), /^id is empty: give a string of at least one character$/],
    [
      'retry with a handle',
      () => engine.retry(engine.handle(id) as never),
      /^id must be a string, got an object: pass its id, as in handle.id$/,
    ],
    ['retry with an empty text', () => engine.retry(''), /id is empty/],
    ['list with an unknown option', () => engine.list({ size: 5 } as never), /size/],
    ['list with an unknown state', () => engine.list({ state: 'done' as never }), /state/],
    ['list with a cursor that is none', () => engine.list({ after: 'x' }), /after/],
    ['update of nothing', () => engine.update(id, {}), /update changes at least one/],
    ['update with more data than is stored', () => engine.update(id, { data: 'x'.repeat(2_000) }), /data has at least/],
    ['redrive with a limit of 0', () => engine.redrive({ limit: 0 }), /limit/],
    ['backup without a file', () => engine.backup('' as never), /file must be a path or a file: URL/],
    ['on an unknown event', () => engine.on('done' as never, () => {}), /there is no event 'done'/],
    ['once without a listener', () => engine.once('completed', undefined as never), /a listener must be a function/],
    ['work without handlers', () => engine.work([]), /work takes handlers/],
    ['work with a function', () => engine.work([(() => 1) as never]), /work takes handlers/],
    ['work with nothing', () => engine.work(undefined as never), /work takes handlers/],
    ['work with a definition', () => engine.work([a as never]), /work takes handlers/],
    ['work with an unknown option', () => engine.work([handler], { conurrency: 5 } as never), /conurrency/],
    ['work with two handlers of one name', () => engine.work([handler, handler]), /two handlers for job 'a'/],
    ['stop with a duration that is none', () => engine.stop({ timeout: 'soon' as never }), /timeout/],
    ['close with an unknown option', () => engine.close({ after: 5 } as never), /after/],
  ])('%s', async ([, call, message]) => {
    await expect(Promise.resolve().then(call)).rejects.toThrow(message)
    await quiet()
    expect(port.posts).toEqual([])
    expect(port.holds).toEqual([false])
  })

  const long = 'x'.repeat(1_000_000)

  test.for<readonly [what: string, call: () => unknown]>([
    ['an event', () => engine.on(long as never, () => {})],
    ['an event, by symbol', () => engine.once(Symbol(long) as never, () => {})],
    ['an event whose text fails', () => engine.off(Object.create(null) as never, () => {})],
    ['a job', () => engine.enqueue(long)],
    ['a queue', () => engine.enqueue('a', 1, { queue: long })],
    ['a value of an option', () => engine.list({ state: long as never })],
    ['an option', () => engine.list({ [long]: 5 } as never)],
    ['an option of a call without options', () => (engine.schedules.delete as (...given: unknown[]) => unknown)('a', { [long]: 5 })],
    ['a cursor', () => engine.list({ after: long })],
    ['an id', () => engine.cancel(long)],
    ['the id of a result', () => engine.handle(long).result()],
    ['the id of a payload', () => engine.payload(long, 'data')],
    ['the id of logs', () => engine.logs(long)],
    ['the id of steps', () => engine.steps(long)],
    ['the step of a retry', () => engine.retry(id, { from: long })],
    ['a payload', () => engine.payload(id, long as never)],
    ['a schedule', () => engine.schedules.get(long)],
    ['a cron', () => engine.schedules.upsert('a', { cron: long }, { job: 'a' })],
    ['a zone', () => engine.schedules.upsert('a', { cron: '@daily', timezone: long }, { job: 'a' })],
    ['a duration', () => engine.stop({ timeout: long as never })],
    ['the duration of a RetryAfterError', () => new RetryAfterError(long as never)],
    ['the URL of a module', () => a.thread(long)],
    ['the URL of a module for processes', () => a.childProcess(long)],
  ])('the message is short, whatever the length of %s', async ([, call]) => {
    const error = await Promise.resolve()
      .then(call)
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: expect.stringMatching(/^OPTION_|^JOB_NOT_FOUND$/), message: expect.stringMatching(/^.{1,700}$/) })
  })

  test.for<readonly [capability: Capability, calls: readonly (() => unknown)[]]>([
    ['work', [() => engine.work([handler])]],
    ['list', [() => engine.list()]],
    ['backup', [() => engine.backup('copy.db')]],
    ['events', [() => engine.on('*', () => {}), () => engine.once('*', () => {})]],
  ])('a Port without %s says so', async ([capability, calls]) => {
    open(
      {},
      (['work', 'list', 'backup', 'events'] as const).filter((other) => other !== capability),
    )
    for (const call of calls) {
      const error = await Promise.resolve()
        .then(call)
        .catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(UnsupportedError)
      expect(error).toMatchObject({ message: `this kind of connection does not offer '${capability}'` })
    }
    await quiet()
    expect(port.posts).toEqual([])
  })

  test('port(): where the connection has none to offer, and after a stop', async () => {
    expect(engine.port()).toBe('a port')
    await engine.stop()
    expect(() => engine.port()).toThrow(EngineStoppedError)
    const { openChannel: _, ...rest } = setup
    expect(() => new Engine(new FakePort(), rest).port()).toThrow(UnsupportedError)
  })
})

describe('workers', () => {
  const gates: (() => void)[] = []
  const waiting = a.handler(({ job }) => new Promise<number>((resolve) => void gates.push(() => resolve(job.run))))

  beforeEach(() => {
    gates.length = 0
  })

  test('one handler or several; the engine’s own facts go with them', async () => {
    engine.work(waiting, { id: 'w' })
    await quiet()
    expect(port.of('attach')[0]?.command.session).toMatchObject({ worker: 'w', host: 'host', pid: 5, local: true })
    expect(port.holds).toEqual([false, true])
  })

  test('work with a known id drains and replaces that worker', async () => {
    const first = engine.work([waiting], { id: 'w' })
    await quiet()
    const second = engine.work([waiting], { id: 'w' })
    await quiet()
    expect(port.commands.map((command) => command.op)).toEqual(['attach', 'drain', 'attach', 'leave'])
    expect(port.of('drain')[0]?.command.session).toBe(first.session)
    expect(port.of('attach')[1]?.command.session.uuid).toBe(second.session)
  })

  test('grants go to their session; those of a session that is gone are given back', async () => {
    engine.work([waiting])
    await quiet()
    port.grant(grantOf({ session: sessionOf(), seq: 1 }), grantOf({ session: 'gone', seq: 2 }))
    await quiet()
    expect(gates).toHaveLength(1)
    expect(port.of('giveBack').map(({ command }) => command)).toEqual([{ op: 'giveBack', seq: 2, run: 1 }])
  })

  test('of one delivery: replies, then what is lost, then what is granted', async () => {
    const worker = engine.work([waiting])
    await quiet()
    const session = sessionOf()
    port.grant(grantOf({ session, run: 1 }))
    port.deliver({ grants: [grantOf({ session, run: 2 })], notices: [{ kind: 'lost', session, seq: key.seq, run: 1 }] })
    expect([worker.running, worker.zombies]).toEqual([1, 1])
    gates[1]?.()
    await quiet()
    expect(port.of('complete').map(({ command }) => command.run)).toEqual([2])
    expect(worker.running).toBe(0)
    gates[0]?.()
    await quiet()
    expect(worker.zombies).toBe(0)
  })

  test('a job that is granted again with the answer to its last run runs again', async () => {
    const runs: number[] = []
    const worker = engine.work([a.handler(({ job }) => void runs.push(job.run))])
    await quiet()
    const session = sessionOf()
    port.answer('complete', () => undefined)
    port.grant(grantOf({ session, run: 1 }))
    await quiet()
    const [complete] = port.of('complete')
    port.deliver({ replies: [{ id: complete?.id ?? 0, value: true }], grants: [grantOf({ session, run: 2 })] })
    await quiet()
    expect(runs).toEqual([1, 2])
    expect(worker.zombies).toBe(0)
  })

  test('a reload asks every worker to attach again; a break does so before anything else leaves', async () => {
    engine.work([waiting])
    engine.work([waiting])
    await quiet()
    port.notice({ kind: 'reattach' })
    await quiet()
    expect(port.of('attach')).toHaveLength(4)
    engine.on('*', () => {})
    await quiet()
    port.break()
    void engine.stats()
    await quiet()
    port.reopen()
    await quiet()
    expect(port.posts.at(-1)?.map(({ command }) => command.op)).toEqual(['attach', 'attach', 'subscribe', 'stats'])
  })

  test('a reload that is told together with a grant: the grant is held by then', async () => {
    engine.work([waiting])
    await quiet()
    port.deliver({ grants: [grantOf({ session: sessionOf() })], notices: [{ kind: 'reattach' }] })
    await quiet()
    expect(port.of('attach').at(-1)?.command.held).toEqual([{ seq: key.seq, run: 1 }])
  })

  test('runs go on through a break, and their outcomes follow', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
    const worker = engine.work([waiting])
    await quiet()
    port.grant(grantOf({ session: sessionOf() }))
    port.break()
    gates[0]?.()
    await quiet()
    expect(port.of('complete')).toEqual([])
    port.reopen()
    await quiet()
    expect(port.of('attach').at(-1)?.command.held).toEqual([{ seq: key.seq, run: 1 }])
    expect(port.of('complete')).toHaveLength(1)
    expect(worker.running).toBe(0)
    vi.useRealTimers()
  })
})

describe('events', () => {
  const eventOf = (type: JobEvent['type']): JobEvent => ({
    seq: 1,
    type,
    jobSeq: 7,
    node: 1,
    enqueuedAt: key.enqueuedAt,
    queue: 'q',
    name: 'a',
    at: 5,
    run: 1,
    attempt: 1,
  })

  test('on, once and off, one after the other; a listener that throws stops no other', async () => {
    const log = vi.fn()
    open({ logger: { debug: log, info: log, warn: log, error: log } })
    const seen: string[] = []
    const note = (what: string) => () => void seen.push(what)
    const gone = note('gone')
    engine
      .on('completed', () => {
        throw new Error('no')
      })
      .once('completed', note('once'))
      .on('*', note('all'))
      .on('completed', gone)
      .off('completed', gone)
    port.events(eventOf('completed'), eventOf('completed'))
    expect(seen).toEqual(['once', 'all', 'all'])
    expect(log).toHaveBeenCalledTimes(2)
  })

  test('listening does not keep the process alive', async () => {
    engine.on('*', () => {})
    await quiet()
    expect(port.holds.at(-1)).toBe(false)
  })
})

describe('stop', () => {
  test('workers first, then what is open, then the Port; once', async () => {
    const order: string[] = []
    open({ closed: () => void order.push('closed') })
    const finishes: (() => void)[] = []
    engine.work([a.handler(() => new Promise<void>((resolve) => void finishes.push(resolve)))])
    await quiet()
    port.grant(grantOf({ session: sessionOf() }))
    const answered = engine.stats().then(() => void order.push('answered'))
    const stopped = engine.stop()
    expect(engine.stop({ timeout: 0 })).toBe(stopped)
    expect(engine.close()).toBe(stopped)
    await quiet()
    expect([port.closed, port.of('leave').length]).toEqual([0, 0])
    // In the order in which they were asked.
    port.answer('unwatch', () => {
      port.reply(port.of('stats')[0]?.id ?? 0, {})
      return []
    })
    finishes[0]?.()
    await Promise.all([stopped, answered])
    await engine[Symbol.asyncDispose]()
    expect(order).toEqual(['answered', 'closed'])
    expect(port.commands.map((command) => command.op)).toEqual(['attach', 'stats', 'drain', 'complete', 'leave', 'unwatch'])
    expect([port.closed, port.holds.at(-1)]).toEqual([1, false])
  })

  test('lists and backups that are under way are answered, whoever answers them; what is called meanwhile is not waited for', async () => {
    const [list, backup] = [engine.list(), engine.backup('copy.db')]
    const stopped = engine.stop()
    await quiet()
    const late = engine.stats()
    await quiet()
    port.reply(port.of('list')[0]?.id ?? 0, { jobs: [], next: null })
    await quiet()
    expect(port.closed).toBe(0)
    port.reply(port.of('backup')[0]?.id ?? 0, { bytes: 5 })
    await Promise.all([stopped, expect(late).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })])
    expect(await Promise.all([list, backup])).toEqual([{ jobs: [], next: undefined }, { bytes: 5 }])
  })

  test('later calls throw EngineStoppedError', async () => {
    await engine.stop()
    for (const call of [
      () => engine.enqueue(a),
      () => engine.enqueueMany([{ job: a }]),
      () => engine.stats(),
      () => engine.get(id),
      () => engine.work([a.handler(() => 1)]),
    ]) {
      await expect(Promise.resolve().then(() => call() as unknown)).rejects.toBeInstanceOf(EngineStoppedError)
    }
    expect(port.closed).toBe(1)
  })

  test('results that are still waited for reject', async () => {
    port.answer('enqueue', (_: CommandOf<'enqueue'>) => [{ ...key, created: true }])
    const result = (await engine.enqueue(a)).result()
    await quiet()
    await Promise.all([engine.stop(), expect(result).rejects.toBeInstanceOf(EngineStoppedError)])
  })

  test('a writer that is being started again is waited for; an owner of the file that is out of reach, for who knows how long, is not', async () => {
    port.break()
    const waiting = engine.stop()
    await quiet()
    expect(port.closed).toBe(0)
    port.reopen()
    await waiting
    open()
    const answered = engine.stats()
    await quiet()
    port.break('the owner is gone', 'CONNECTION_LOST')
    await Promise.all([engine.stop(), expect(answered).rejects.toMatchObject({ code: 'CONNECTION_LOST' })])
    expect(port.closed).toBe(1)
  })

  test('a far side that answers nothing any more does not hold it up once it has ended', async () => {
    open()
    port.answer('unwatch', () => undefined)
    const stopped = engine.stop()
    await quiet()
    port.end()
    await stopped
    expect(port.closed).toBe(1)
  })
})

describe('a far side in another process that answers nothing any more', () => {
  test('holds up a stop for its timeout and a second, and for no longer', async () => {
    const clock = new ManualClock()
    open({ clock, local: false })
    port.distant = true
    for (const op of ['unwatch', 'drain', 'leave'] as const) port.silence(op)
    engine.work([a.handler(() => 1)])
    const asked = engine.stats()
    const refused = expect(asked).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    await quiet()
    const stopping = engine.stop({ timeout: '2s' })
    await clock.advance(2_999)
    expect(port.closed).toBe(0)
    await clock.advance(1)
    await Promise.all([stopping, refused])
    expect([port.closed, port.closedWithinMs]).toEqual([1, 0])
    // The leave that was not answered is said once more, and hears that nobody is there.
    await clock.advance(250)
    expect(clock.timers).toBe(0)
  })

  test('an engine of this process is waited for: it answers, whatever its disk takes', async () => {
    const clock = new ManualClock()
    open({ clock })
    port.silence('unwatch')
    const asked = engine.stats()
    await quiet()
    const stopping = engine.stop({ timeout: 0 })
    await clock.advance(60_000)
    expect(port.closed).toBe(0)
    port.reply(port.of('stats')[0]?.id ?? 0, {})
    port.reply(port.of('unwatch')[0]?.id ?? 0, true)
    await Promise.all([stopping, asked])
    expect(port.closed).toBe(1)
  })
})

describe('the end of the Port', () => {
  test('rejects every call, now and later; workers stop; the file is let go once, since others may have opened it by then', async () => {
    const error = vi.fn()
    open({ logger: { debug: () => {}, info: () => {}, warn: () => {}, error } })
    const reasons: unknown[] = []
    engine.work([
      a.handler(
        ({ signal }) =>
          new Promise<void>((resolve) => {
            signal.addEventListener('abort', () => {
              reasons.push(signal.reason)
              resolve()
            })
          }),
      ),
    ])
    await quiet()
    port.grant(grantOf({ session: sessionOf() }))
    const open1 = engine.stats()
    await quiet()
    const open2 = engine.stats()
    port.end('ENGINE_FAILED', 'three deaths')
    await expect(open1).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    await expect(open2).rejects.toMatchObject({ code: 'ENGINE_FAILED', message: 'three deaths' })
    await expect(engine.enqueue(a)).rejects.toMatchObject({ code: 'ENGINE_FAILED' })
    expect(reasons).toMatchObject([{ code: 'ENGINE_FAILED' }])
    for (const call of [() => engine.work([a.handler(() => 1)]), () => engine.port()]) expect(call).toThrow('three deaths')
    expect(error).toHaveBeenCalledWith('the engine has ended', { code: 'ENGINE_FAILED', message: 'three deaths' })
    await quiet()
    expect(port.holds.at(-1)).toBe(false)
    await engine.stop()
    expect(setup.closed).toHaveBeenCalledTimes(1)
    expect(port.closed).toBe(1)
  })
})
