// What an engine starts outlives the request that opened it: nothing of it runs with that request's stores of AsyncLocalStorage.
import { AsyncLocalStorage } from 'node:async_hooks'
import { join } from 'node:path'
import { attach, type Engine, type EngineOptions, openEngine } from '@millrace/engine'
import { connect, listen } from '@millrace/remote'
import { defineJob } from '@millrace/worker'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../temporary.ts'

const request = new AsyncLocalStorage<string>()

/** The stores that calls of one kind have seen. */
class Seen {
  readonly #stores = new Map<string, Set<string>>()

  note(what: string): void {
    const stores = this.#stores.get(what) ?? new Set()
    this.#stores.set(what, stores.add(request.getStore() ?? 'none'))
  }

  get all(): Record<string, string[]> {
    return Object.fromEntries([...this.#stores].map(([what, stores]) => [what, [...stores]]))
  }
}

type Options = Required<Pick<EngineOptions, 'logger' | 'codec' | 'redact'>>

const WAYS: Record<string, (options: Options, seen: Seen) => Promise<Engine>> = {
  openEngine: (options) => openEngine({ ...options, file: ':memory:' }),
  'openEngine, shared': (options) => openEngine({ ...options, file: join(temporaryFolder(), 'jobs.db'), share: true }),
  attach: async (options) => {
    const owner = await openEngine({ file: ':memory:' })
    onTestFinished(() => owner.stop())
    return attach(owner.port(), options)
  },
  connect: async (options, seen) => {
    const owner = await openEngine({ file: ':memory:' })
    onTestFinished(() => owner.stop())
    const authenticate = () => {
      seen.note('authenticate')
      return { name: 'test', scopes: ['enqueue', 'read', 'work'] as const }
    }
    const server = await listen(owner, `unix:${join(temporaryFolder(), 's')}`, { authenticate })
    return connect(server.url, { ...options, token: 'test-token-0123456789abcdef' })
  },
}

test.for(Object.entries(WAYS))('%s within a request: what runs later sees no store', async ([, open]) => {
  const seen = new Seen()
  const log = () => seen.note('logger')
  const redact = (said: unknown) => {
    seen.note('redact')
    return said
  }
  const options = {
    logger: { debug: log, info: log, warn: log, error: log },
    codec: {
      encode: (data: Uint8Array) => data,
      decode: (data: Uint8Array) => {
        seen.note('decode')
        return data
      },
    },
    redact,
  } as unknown as Options
  const job = defineJob<{ fails: boolean }>({
    name: 'job',
    maxAttempts: 2,
    backoff: () => {
      seen.note('backoff')
      return 0
    },
  })
  const many = defineJob({ name: 'many' })
  const engine = await request.run('first', async () => {
    const opened = await open(options, seen)
    opened.on('completed', () => seen.note('listener'))
    opened.use({
      run: (_run, next) => {
        seen.note('run')
        return next()
      },
      enqueue: (jobs, next) => {
        seen.note('enqueue')
        return next(jobs)
      },
    })
    opened.work([
      job.handler(async ({ data, job: { attempt }, log: say }) => {
        seen.note('handler')
        say('info', 'it runs')
        await request.run('own', () => Promise.resolve())
        seen.note('handler')
        if (data.fails && attempt === 1) throw new Error('fails')
      }),
      many.handler(
        (items) => {
          seen.note('batch')
          return items.map(() => ({ output: null }))
        },
        { batch: { size: 2 } },
      ),
    ])
    return opened
  })
  onTestFinished(() => engine.stop())
  for (const name of ['second', 'third']) {
    await request.run(name, async () => {
      const jobs = await engine.enqueueMany([
        { job, data: { fails: false } },
        { job, data: { fails: true } },
        { job: many, data: 1 },
      ])
      await Promise.all(jobs.map((each) => each.result()))
      expect(request.getStore()).toBe(name)
    })
  }
  const kinds = ['handler', 'batch', 'backoff', 'listener', 'logger', 'run', 'redact']
  await vi.waitFor(() => expect(Object.keys(seen.all)).toEqual(expect.arrayContaining(kinds)))
  const { enqueue, decode, ...later } = seen.all
  // Middleware of an enqueue and the output that somebody waits for are parts of a call.
  expect([enqueue, decode]).toEqual([['second', 'third'], expect.not.arrayContaining(['first'])])
  expect(later).toMatchObject(Object.fromEntries(kinds.map((kind) => [kind, ['none']])))
})
