/** A small world in which the code of a table runs: an engine in memory, an API, a place for commands, and stand-ins for names of the reader. */
import { validateOpenOptions, validatePostgresOptions } from '@millrace/core'
import * as engineModule from '@millrace/engine'
import { type Context, defineJob, type Job } from '@millrace/engine'
import { createHttp } from '@millrace/http'
import * as outbox from '@millrace/outbox'
import * as remote from '@millrace/remote'
import * as testkit from '@millrace/testkit'
import { createTestEngine } from '@millrace/testkit'
import { readEnvironment } from '../../apps/millrace/src/config/environment.ts'
import { parseMention } from './millrace.ts'
import { commandsOf } from './script.ts'

type Find = (name: string) => unknown
/** Runs code in one of the ways that a reader uses it. It rejects if the code is wrong. */
export type Way = (code: string) => Promise<unknown>

/** Evaluates code whose names mean what `find` returns. A name for which that is undefined is an error. */
async function evaluate(code: string, find: Find): Promise<unknown> {
  const get = (_: object, name: string | symbol) => {
    const value = typeof name === 'string' ? find(name) : undefined
    if (value === undefined && typeof name === 'string') throw new ReferenceError(`${name} is no name here, and has no stand-in`)
    return value
  }
  const has = (_: object, name: string | symbol) => typeof name === 'string' && !(name in globalThis)
  const isStatement = /^(?:throw|return)\b/.test(code)
  // Three dots stand for what the reader has there.
  const body = `with (scope) { return (async () => { ${isStatement ? code : `return (${code.replaceAll('{ ... }', '{}')}\n)`} })() }`
  return new Function('scope', body)(new Proxy({}, { has, get }))
}

/** A name of a job that is the name of its queue too. */
const NAME = 'greet'
const LATER = new Date('2040-01-01T00:00:00Z')

/** What an option, or an argument, is given if the table only names it. */
const VALUES: Readonly<Record<string, unknown>> = {
  ...{ after: 0, age: '1h', backoff: { type: 'fixed', delay: '5s' }, catchUp: 'latest', catchUpWithin: '4h', changes: { priority: 1 } },
  ...{ checkpoint: { step: 1 }, concurrency: 4, concurrencyKey: 'a', concurrencyLimit: 4, count: 10, cron: '30 3 * * *' },
  ...{ data: { to: 'ada' }, deadLetter: 'graves', defaults: { maxAttempts: 2 }, delay: '5m', duration: '1m', endAt: LATER, every: '5m' },
  ...{ factor: 3, file: 'jobs.db', filter: { queue: NAME, state: 'completed' }, finishedBefore: new Date(0), heartbeatTimeout: '30s' },
  ...{
    idempotencyKey: 'once',
    idempotencyTtl: '1h',
    jitter: 0.2,
    keep: '1d',
    key: 'a',
    keyTiers: { gold: { perKeyLimit: 4 } },
    label: 'a',
  },
  ...{ limit: 2, logLines: 100, maxAge: '6h', maxAttempts: 4, maxConcurrency: 16, maxDataBytes: 1_000, maxDelay: '1h', maxLost: 2 },
  ...{ maxRuns: 3, maxWait: '1s', message: 'why', meta: { a: 1 }, minConcurrency: 4, mode: 'trailing', ms: 1_000, name: NAME, options: {} },
  ...{ perKeyLimit: 1, perKeyRateLimit: { limit: 1, period: '1s' }, period: '1m', postgres: 'postgres://localhost/app', prefix: 'a' },
  ...{
    paused: true,
    role: 'client',
    retention: { completed: { age: '1h' } },
    share: true,
    repeats: 'event',
    priority: 5,
    queue: NAME,
    rateLimit: { limit: 2, period: '1m' },
    reason: 'why',
    recovery: 'immediate',
    runAt: LATER,
  },
  ...{
    runImmediately: true,
    schema: 'millrace',
    size: 10,
    startAt: LATER,
    state: 'failed',
    states: ['waiting'],
    tags: ['a'],
    timeout: '1m',
  },
  ...{ timezone: 'Europe/Berlin', ttl: '1h', type: 'exponential', unique: { key: 'a' }, value: { step: 1 }, weight: 1 },
  id: 'w1',
  ...{ url: new URL('file:///resize.js'), ref: 'door' },
}

const TOKEN = 'test-token-0123456789abcdef'
/** What the routes take that need a body. */
const BODIES: Readonly<Record<string, readonly [type: string, body: string]>> = {
  'POST /v1/jobs': ['application/json', JSON.stringify({ job: NAME, data: {} })],
  'POST /v1/jobs:import': ['text/plain', 'one\n'],
  'PUT /v1/queues/a': ['application/json', JSON.stringify({ concurrencyLimit: 4 })],
  'PUT /v1/schedules/a': ['application/json', JSON.stringify({ every: '1h', job: NAME })],
}

export class GuideWorld {
  readonly #test = createTestEngine()
  readonly #api = createHttp(this.#test.engine, { token: TOKEN })
  /** What a handler gets. */
  readonly #context = this.#contextOf()
  readonly #definition = defineJob<object>({ name: NAME, queue: NAME })
  #count = 0
  #fields: Promise<Readonly<Record<string, unknown>>> | undefined

  async #contextOf(): Promise<unknown> {
    const { engine } = this.#test
    const seen = Promise.withResolvers<unknown>()
    const worker = engine.work(defineJob({ name: 'context' }).handler((context) => seen.resolve(context)))
    await engine.enqueue('context')
    const context = await seen.promise
    await worker.stop()
    return context
  }

  async close(): Promise<void> {
    await this.#test[Symbol.asyncDispose]()
  }

  /** Calls the engine, or what its calls return. */
  readonly call: Way = async (code) => {
    const { engine } = this.#test
    const id = `s${++this.#count}`
    // The name of the job and of its queue.
    const name = `greet-${this.#count}`
    const job = defineJob<object>({ name, queue: name })
    const handler = job.handler(() => null)
    const handle = await engine.enqueue(job, { to: 'ada' }, { delay: '1h', unique: { key: id } })
    // Only jobs that have ended can be tried again.
    if (code.startsWith('retry(')) await engine.cancel(handle.id)
    // The row says to purge it first.
    if (code.startsWith('queues.delete(')) await engine.queues.purge(name)
    await engine.schedules.upsert(id, { every: '1h' }, { job, data: {} })
    const worker = engine.work(handler, { queues: ['another'] })
    const names: Readonly<Record<string, unknown>> = {
      ...VALUES,
      ...{ engine, job, email: job, definition: job, worker, handlers: [handler], jobs: [{ job, data: {} }], uniqueKey: id, key: id },
      ...{ name, queue: name, filter: { queue: name, state: 'completed' }, f: () => null, listener: () => {}, n: 2 },
      handle: { result: () => job },
      id: code.startsWith('schedules.') ? id : handle.id,
      url: 'postgres://localhost/app',
      openEngine: async (options: object) => ('postgres' in options ? validatePostgresOptions(options) : validateOpenOptions(options)),
      stopOnSignals: () => {},
    }
    const method = (name: string): unknown => {
      const value = Reflect.get(engine, name) as unknown
      return typeof value === 'function' ? value.bind(engine) : value
    }
    // `delete(id)` would be JavaScript's own.
    const whole = code.replace(/^delete\(/, 'engine.delete(').replace('(...)', '(() => null)')
    const without = /\bstop\(/.test(code) ? whole.replace(/^(?:await )?engine\.stop/, 'worker.stop') : whole
    try {
      const made = await evaluate(without, (each) => names[each] ?? method(each) ?? exported(each))
      if (/\bwork\(/.test(code)) await (made as typeof worker).stop({ timeout: 0 })
    } finally {
      await worker.stop({ timeout: 0 })
    }
  }

  /** Looks up a function by its name. */
  readonly method: Way = async (code) => {
    const { engine } = this.#test
    const handler = this.#definition.handler(() => null)
    const worker = engine.work(handler, { queues: ['another'] })
    const handle = await engine.enqueue(this.#definition, {}, { delay: '1h' })
    await worker.stop({ timeout: 0 })
    const places: Readonly<Record<string, unknown>> = { engine, handle, worker, definition: this.#definition, schedule: engine.schedules }
    const steps = code.split('.')
    const at = (root: unknown) => steps.reduce((object, step) => Reflect.get(Object(object), step) as unknown, root)
    const found = [places, engine, engine.schedules, this.#definition, ...MODULES, Object(await this.#context)].map(at)
    if (!found.some((value) => value !== undefined)) throw new ReferenceError(`there is no function ${code}`)
  }

  /** Uses code in a handler. */
  readonly inHandler: Way = async (code) => {
    const { engine } = this.#test
    const name = `handler-${++this.#count}`
    let fault: unknown
    const job = defineJob<object, unknown>({ name, queue: name, maxAttempts: 1 })
    const handler = job.handler(async (context: Context<object>) => {
      const names: Readonly<Record<string, unknown>> = {
        ...{ engine, definition: job, jobs: [this.#definition.job({ to: 'ada' })], ...VALUES, name: 'rest' },
      }
      const ofContext = (key: string) => Reflect.get(context, key) as unknown
      const find = (key: string) => (key === 'enqueue' || !(key in names) || key in context ? ofContext(key) : names[key]) ?? exported(key)
      try {
        return await evaluate(code, find)
      } catch (error) {
        if (!CONTROL.test(String((error as Error).message))) fault = error
        throw error
      }
    })
    const worker = engine.work(handler)
    await engine.enqueue(job, {})
    await this.#test.drain({ timeout: '10m' }).catch(() => {})
    await worker.stop({ timeout: 0 })
    if (fault !== undefined) throw fault
  }

  /** Reads a field of a job that has run, of its handle, of its last run or of the error of that. */
  readonly ofJob: Way = async (code) => {
    this.#fields ??= this.#runJob()
    const fields = await this.#fields
    await evaluate(code, (key) => fields[key])
  }

  async #runJob(): Promise<Readonly<Record<string, unknown>>> {
    const { engine } = this.#test
    const job = defineJob({ name: 'fields', queue: 'fields', maxAttempts: 2 })
    let running: Job | undefined
    const worker = engine.work(
      job.handler(async ({ progress, job: { id, attempt } }) => {
        running = await engine.get(id)
        progress(0.5, 'half', { rows: 1 })
        if (attempt === 1) throw new Error('no')
        return 'done'
      }),
    )
    const handle = await engine.enqueue(job, {})
    await this.#test.advance('1h')
    const result = await handle.result()
    await worker.stop()
    const view = await engine.get(handle.id)
    const { jobs } = await engine.list({ queue: 'fields', lastRun: true })
    const { lines } = await engine.logs(handle.id)
    const error = view?.attempts[0]?.error
    return {
      ...error,
      ...jobs[0],
      ...view,
      deadlineAt: running?.deadlineAt,
      lines,
      created: handle.created,
      result: () => result,
      get: engine.get.bind(engine),
      id: handle.id,
    }
  }

  readonly event: Way = async (code) => {
    await this.#test.engine.events({ filter: { types: [code as 'failed'] } }).return()
  }

  readonly state: Way = async (code) => {
    await this.#test.engine.list({ state: code as 'failed' })
  }

  /** Sends options as the API gets them: a body of JSON, in which a bare name stands for its value. */
  readonly body: Way = async (code) => {
    const options = await evaluate(`{ ${code.replace(/^options\b\.?/, '')} }`, (name) => VALUES[name])
    const body = JSON.stringify({ job: NAME, data: {}, options })
    await this.#ask('POST /v1/jobs', body, 'application/json')
  }

  /** Asks the API. That there is no such job, queue or schedule is an answer too. */
  readonly route: Way = async (code) => {
    const route = code.replace(/\{\w+\}/g, 'a').replace(/(\w+)=(?=&|$)/g, (_, name) => (name === 'after' ? '' : `${name}=${VALUES[name]}`))
    const [type, body] = BODIES[route.replace(/\?.*/, '')] ?? ['application/json', undefined]
    await this.#ask(route, body, type)
  }

  /** Asks for a page that is not of the API's own, such as `/metrics`. */
  readonly path: Way = (code) => this.route(`GET ${code}`)

  async #ask(route: string, body: string | undefined, type: string): Promise<void> {
    const [method = '', path = ''] = route.split(' ')
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': type }
    const request = new Request(`http://127.0.0.1${path}`, { method, headers, ...(body !== undefined && { body }) })
    const answer = await this.#api.fetch(request, { incoming: { socket: { remoteAddress: '127.0.0.1' } } })
    if (answer.status < 400) return
    const text = await answer.text()
    if (!/"code":"(?:JOB|QUEUE|SCHEDULE)_NOT_FOUND"/.test(text)) throw new Error(`the API answers ${answer.status}: ${text}`)
  }

  /** Sets options of one kind. */
  option(kind: OptionKind): Way {
    return async (code) => {
      const inner = code.replace(/^\{(.*)\}$/, '$1').replace(/\s*,?\s*\.\.\.\s*/, '')
      const options = (await evaluate(`{ ${nested(inner)} }`, (name) => VALUES[name])) as object
      await OPTIONS[kind](this.#test.engine, `o${++this.#count}`, options)
    }
  }
}

/** Ends of a run that are no fault: what the code asks for. */
const CONTROL = /^why$|snooze|discard|join/i

/** An option of an option, as a table names it: `backoff.jitter: 0.5`. */
function nested(code: string): string {
  const [, outer, inner] = /^(\w+)\.(\w.*)$/.exec(code) ?? []
  if (outer === undefined) return code
  return `${outer}: { ${outer === 'backoff' ? "type: 'exponential', delay: '1s', " : ''}${inner} }`
}

const MODULES: readonly object[] = [engineModule, testkit, remote, outbox]
const exported = (name: string): unknown =>
  MODULES.map((module) => Reflect.get(module, name) as unknown).find((value) => value !== undefined)

type Engine = engineModule.Engine
export type OptionKind = keyof typeof OPTIONS

const JOB = defineJob<object>({ name: NAME })

const OPTIONS = {
  enqueue: (engine: Engine, _name: string, options: object) => engine.enqueue(JOB, { to: 'ada' }, options),
  backoff: (engine: Engine, _name: string, options: object) =>
    engine.enqueue(JOB, {}, { backoff: { type: 'exponential', delay: '1s', ...options } }),
  unique: (engine: Engine, name: string, options: object) => engine.enqueue(JOB, {}, { unique: { key: name, ...options } }),
  idempotent: (engine: Engine, name: string, options: object) => engine.enqueue(JOB, {}, { idempotencyKey: name, ...options }),
  definition: async (_engine: Engine, name: string, options: object) => void defineJob({ name, ...options } as { name: string }),
  queue: (engine: Engine, name: string, options: object) => engine.queues.configure(name, options),
  schedule: (engine: Engine, name: string, options: object) =>
    engine.schedules.upsert(name, ('cron' in options ? options : { every: '1h', ...options }) as { every: '1h' }, { job: JOB, data: {} }),
  timezone: (engine: Engine, name: string, options: object) =>
    engine.schedules.upsert(name, { cron: '30 3 * * *', ...options }, { job: JOB, data: {} }),
  scheduledJob: (engine: Engine, name: string, options: object) =>
    engine.schedules.upsert(name, { every: '1h' }, { job: JOB, data: {}, ...options }),
  work: (engine: Engine, _name: string, options: object) =>
    engine
      .work(
        JOB.handler(() => null),
        options,
      )
      .stop({ timeout: 0 }),
  handler: async (_engine: Engine, name: string, options: object) => void defineJob({ name }).handler(() => [], options as never),
  open: async (_engine: Engine, _name: string, options: object) => void validateOpenOptions({ file: 'jobs.db', ...options }),
  list: (engine: Engine, _name: string, options: object) => engine.list(options),
  events: async (engine: Engine, _name: string, options: object) => void (await engine.events(options).return()),
  stop: (engine: Engine, _name: string, options: object) => engine.work(JOB.handler(() => null)).stop(options),
  node: (engine: Engine, name: string, options: object) =>
    engine.flow([
      { ref: 'a', job: JOB, data: {} },
      { ref: name, job: JOB, data: {}, dependsOn: ['a'], ...options },
    ] as never),
} satisfies Record<string, (engine: Engine, name: string, options: object) => Promise<unknown>>

/** Exported by a package that the page imports it from. */
export const exportedName: Way = async (code) => {
  if (exported(code.replace(/\(.*/, '')) === undefined) throw new ReferenceError(`no package exports ${code}`)
}

/** Reads a variable, or the setting of the daemon that has one. The value is refused by most. */
export const setting: Way = async (code) => {
  const name = code.startsWith('MILLRACE_') ? code : `MILLRACE_${code.replace(/[.]|(?=[A-Z])/g, '_').toUpperCase()}`
  try {
    readEnvironment({ [name]: '1' })
  } catch (error) {
    if ((error as Error).message.startsWith('unknown variable')) throw error
  }
}

export const packageName: Way = (code) => import(code)

/** Parses a command line of millrace. The words of the program itself are optional, and a flag alone is one of any command of the row. */
export const commandOf =
  (commands: readonly string[]): Way =>
  async (code) => {
    const lines = code.startsWith('-') ? commands.map((each) => `${each} ${code}`) : [code]
    const faults = lines.flatMap((line) => {
      const [first] = commandsOf(line.replace(/<[\w|.-]+>/g, '[placeholder]').replace(/^millrace /, ''))
      try {
        parseMention(first?.words ?? [])
        return []
      } catch (error) {
        return [error]
      }
    })
    if (faults.length === lines.length) throw faults[0]
  }
