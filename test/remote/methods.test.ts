/** What docs/remote.md says of each scope: every method named there works with a token of that scope alone, and none is missing. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Command, LIMITS, type Scope } from '@millrace/core'
import { openEngine } from '@millrace/engine'
import { connect, defineJob, Engine, type JobHandle, listen } from '@millrace/remote'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { serve } from './served.ts'
import { until } from './until.ts'

const TOKEN = 'token-of-the-tests'
const DOC = readFileSync(fileURLToPath(new URL('../../docs/remote.md', import.meta.url)), 'utf8')

/** What the engine's own process has made, and a method is to be tried at. */
interface Place {
  readonly engine: Engine
  readonly waiting: JobHandle
  readonly failed: JobHandle
  readonly later: JobHandle
  readonly folder: string
}

type Try = (client: Engine, place: Place) => Promise<unknown>

const job = defineJob<number>({ name: 'job' })

/** The first that comes, of something that would go on. */
async function first(items: AsyncIterable<unknown>): Promise<unknown> {
  for await (const item of items) return item
  throw new Error('it has ended without any')
}

/** An event that comes to a listener. */
function heard(method: 'on' | 'once'): Try {
  return async (client, { engine }) => {
    let told = false
    client[method]('enqueued', () => {
      told = true
    })
    // Nothing tells when the engine knows of a listener.
    while (!told) await engine.enqueue('heard')
  }
}

const READ_OF_QUEUES: Readonly<Record<string, Try>> = {
  'queues.list': (client) => client.queues.list(),
  'queues.page': (client) => client.queues.page({ limit: 1 }),
  'queues.get': (client) => client.queues.get('default'),
}

const METHODS: Readonly<Record<Scope, Readonly<Record<string, Try>>>> = {
  enqueue: {
    enqueue: (client) => client.enqueue('a'),
    enqueueMany: (client) => client.enqueueMany([{ job: 'a' }, { job: 'b' }]),
    flow: (client) => client.flow([{ ref: 'a', job: 'a' }]),
    batch: (client) => client.batch([{ job: 'a' }], { job: 'b' }),
  },
  work: {
    work: async (client, { engine }) => {
      const worker = client.work(
        job.handler(async (run) => {
          await run.heartbeat()
          await run.checkpoint(1)
          await run.step('one', () => 1)
          await run.sleep('short', 1)
          run.progress(0.5)
          run.log('info', 'said')
          for await (const _ of run.parents());
          run.enqueue('another')
          return run.data + 1
        }),
      )
      expect(await (await engine.enqueue(job, 1)).result()).toBe(2)
      await worker.stop()
      expect(await engine.workers()).toMatchObject([{ id: 'failing' }])
    },
  },
  read: {
    get: (client, { waiting }) => client.get(waiting.id),
    explain: async (client, { waiting }) => expect((await client.explain(waiting.id))?.state).toBe('waiting'),
    logs: async (client, { waiting }) => expect(await client.logs(waiting.id)).toEqual({ run: 0, lines: [], next: undefined }),
    steps: async (client, { waiting }) => expect(await client.steps(waiting.id)).toMatchObject({ steps: [], waits: [] }),
    payload: (client, { waiting }) => client.payload(waiting.id, 'data'),
    handle: async (client, { failed }) => expect(client.handle(failed.id).result()).rejects.toMatchObject({ code: 'JOB_FAILED' }),
    list: (client) => client.list(),
    stats: (client) => client.stats(),
    history: (client) => client.history(),
    failures: (client) => client.failures(),
    workers: (client) => client.workers(),
    on: heard('on'),
    once: heard('once'),
    events: (client) => first(client.events()),
    ...READ_OF_QUEUES,
    'queues.keys': (client) => client.queues.keys('default'),
    'exports.list': (client) => client.exports.list(),
    'flows.get': (client, { waiting }) => client.flows.get(waiting.id),
    'flows.list': (client) => client.flows.list(),
    'schedules.get': (client) => client.schedules.get('there'),
    'schedules.list': (client) => client.schedules.list(),
  },
  send: {
    send: async (client, { later }) => {
      expect(await client.send(later.id, 'go', 1)).toBe('kept')
      expect(await client.handle(later.id).send('go')).toBe('kept')
    },
  },
  admin: {
    cancel: (client, { waiting }) => client.cancel(waiting.id, { descendants: true }),
    update: (client, { waiting }) => client.update(waiting.id, { priority: 1 }),
    retry: (client, { failed }) => client.retry(failed.id, { descendants: true }),
    redrive: (client) => client.redrive(),
    runNow: (client, { later }) => client.runNow(later.id),
    delete: (client, { waiting }) => client.delete(waiting.id),
    releaseKey: (client) => client.releaseKey({ name: 'waiting', uniqueKey: 'none' }),
    cancelMany: (client) => client.cancelMany({ name: 'waiting' }),
    retryMany: (client) => client.retryMany({ name: 'failed' }),
    runNowMany: (client) => client.runNowMany({ name: 'later' }),
    updateMany: (client) => client.updateMany({ name: 'waiting' }, { priority: 1 }),
    deleteMany: (client) => client.deleteMany({ name: 'waiting' }),
    stopWorker: async (client, { engine }) => {
      const worker = engine.work(
        job.handler(() => 1),
        { id: 'one' },
      )
      await engine.workers()
      await client.stopWorker('one')
      await worker.stopped
    },
    'queues.configure': (client) => client.queues.configure('q', { concurrencyLimit: 1 }),
    'queues.pause': (client) => client.queues.pause('q'),
    'queues.resume': (client) => client.queues.resume('q'),
    'queues.pauseAll': async (client, { engine }) => {
      await client.queues.pauseAll()
      // What comes next has a job that runs.
      await engine.queues.resumeAll()
    },
    'queues.resumeAll': (client) => client.queues.resumeAll(),
    'queues.drain': (client) => client.queues.drain('empty'),
    'queues.purge': async (client, { engine }) => {
      await engine.enqueue('a', null, { queue: 'full' })
      expect(await client.queues.purge('full')).toMatchObject({ count: 1 })
    },
    'queues.delete': (client) => client.queues.delete('empty'),
    ...READ_OF_QUEUES,
    'exports.read': (client) => first(client.exports.read('e')),
    'exports.delete': (client) => client.exports.delete('e'),
    'schedules.upsert': (client) => client.schedules.upsert('s', { every: '1h' }, { job: 'a' }),
    'schedules.add': (client) => client.schedules.add('new', { every: '1h' }, { job: 'a' }),
    'schedules.delete': (client) => client.schedules.delete('there'),
    'schedules.pause': (client) => client.schedules.pause('there'),
    'schedules.resume': (client) => client.schedules.resume('there'),
    'schedules.trigger': (client) => client.schedules.trigger('there'),
    backup: async (client, { folder }) => {
      const file = join(folder, 'copy.db')
      await client.backup(file)
      expect(existsSync(file)).toBe(true)
    },
  },
}

async function newEngine(): Promise<Engine> {
  const engine = await openEngine({ file: ':memory:' })
  engine.work(
    defineJob({ name: 'failed' }).handler(() => {
      throw new Error('as it was told')
    }),
    { id: 'failing' },
  )
  return engine
}

/** Made anew for each method. */
async function placeIn(engine: Engine, folder: string): Promise<Place> {
  const failed = await engine.enqueue('failed', null, { maxAttempts: 1 })
  await expect(failed.result()).rejects.toMatchObject({ code: 'JOB_FAILED' })
  const waiting = await engine.enqueue('waiting')
  const later = await engine.enqueue('later', null, { delay: '1h' })
  await engine.schedules.upsert('there', { every: '1h' }, { job: 'a' })
  return { engine, waiting, failed, later, folder }
}

async function clientOf(engine: Engine, folder: string, ...scopes: readonly Scope[]) {
  const server = await listen(engine, `unix:${join(folder, 'sock')}`, { token: [{ token: TOKEN, scopes }] })
  const client = await connect(server.url, { token: TOKEN })
  const stop = async () => {
    await client.stop({ timeout: 0 })
    await server.close()
    await engine.stop({ timeout: 0 })
  }
  return { client, stop }
}

describe.each(Object.entries(METHODS))('%s alone', (scope, methods) => {
  let engine: Engine
  let folder: string
  let under: Awaited<ReturnType<typeof clientOf>>
  beforeAll(async () => {
    engine = await newEngine()
    folder = mkdtempSync(join(tmpdir(), 'millrace-'))
    under = await clientOf(engine, folder, scope as Scope)
  })
  afterAll(async () => {
    await under.stop()
    rmSync(folder, { recursive: true })
  })

  test.each(Object.entries(methods))('%s', async (_name, attempt) => {
    await attempt(under.client, await placeIn(engine, folder))
  })

  test('the document names just these', () => {
    const row = new RegExp(`^\\| \`${scope}\` \\| (.+) \\|$`, 'm').exec(DOC)?.[1] ?? ''
    const named = [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name).filter((name) => name !== 'result')
    expect(named.toSorted()).toEqual(Object.keys(methods).toSorted())
  })
})

test('an update of a schedule reads it and writes it: both scopes', async () => {
  const engine = await newEngine()
  await engine.schedules.upsert('there', { every: '1h' }, { job: 'a' })
  const { client, stop } = await clientOf(engine, temporaryFolder(), 'read', 'admin')
  onTestFinished(stop)
  await client.schedules.update('there', { paused: true })
  expect(await engine.schedules.get('there')).toMatchObject({ paused: true, every: 3_600_000 })
})

test('a copy of a job reads it and creates another: both scopes', async () => {
  const engine = await newEngine()
  const { client, stop } = await clientOf(engine, temporaryFolder(), 'read', 'enqueue')
  onTestFinished(stop)
  const first = await engine.enqueue('a', { n: 1 }, { delay: '1h' })
  expect(await engine.get((await client.enqueueAgain(first.id)).id)).toMatchObject({
    state: 'waiting',
    data: { n: 1 },
    meta: { copyOf: first.id },
  })
})

test('to enqueue is not to read', async () => {
  const { client, stop } = await clientOf(await newEngine(), temporaryFolder(), 'enqueue')
  onTestFinished(stop)
  await expect((await client.enqueue('a')).result()).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test('no method of an engine is left out', async () => {
  const engine = await newEngine()
  onTestFinished(() => engine.stop({ timeout: 0 }))
  const namesOf = (of: object, prefix = ''): string[] => {
    const kind = Object.getPrototypeOf(of)
    if (kind === Object.prototype) return []
    const own = Object.entries(Object.getOwnPropertyDescriptors(kind))
      .filter(([name, { value }]) => typeof value === 'function' && name !== 'constructor')
      .map(([name]) => `${prefix}${name}`)
    return [...own, ...namesOf(kind, prefix)]
  }
  const all = [
    ...namesOf(engine).filter((name) => !OWN.has(name)),
    ...namesOf(engine.queues, 'queues.'),
    ...namesOf(engine.flows, 'flows.'),
    ...namesOf(engine.exports, 'exports.'),
    ...namesOf(engine.schedules, 'schedules.'),
  ]
  const listed = new Set([...Object.values(METHODS).flatMap((methods) => Object.keys(methods)), 'schedules.update', 'enqueueAgain'])
  expect(all.toSorted()).toEqual([...listed].toSorted())
})

/** Nothing of these is asked of the engine. */
const OWN: ReadonlySet<string> = new Set(['use', 'off', 'port', 'stop', 'close', 'sourceLine', 'declareDead', 'openPort'])

test('a drain that is given up is forgotten by the engine, whatever else the token allows', async () => {
  const { engine, clock, port } = await serve({ listen: { token: [{ token: TOKEN, scopes: ['admin'] }] } })
  const heardOf: Command[] = []
  const { actor } = engine
  const receive = actor.receive.bind(actor)
  actor.receive = (connection, requests) => {
    heardOf.push(...requests.map(({ command }) => command))
    receive(connection, requests)
  }
  const owner = new Engine(engine.port(), { maxDataBytes: LIMITS.dataBytes, clock, host: 'near', pid: 1, local: true })
  await owner.enqueue('a', null, { queue: 'q' })
  const client = new Engine(await port({ token: TOKEN }), { maxDataBytes: LIMITS.dataBytes, clock, host: 'far', pid: 2, local: false })
  const drained = client.queues.drain('q', { timeout: '1m' })
  const refused = expect(drained).rejects.toMatchObject({ code: 'DRAIN_INCOMPLETE' })
  await until(() => heardOf.some(({ op }) => op === 'drainQueue'))
  await clock.advance('1m')
  await refused
  // Request 0 is of nobody: a connection begins with it.
  await until(() => heardOf.some((command) => command.op === 'unwatch' && command.request > 0))
})
