/** Each feature as somebody would use it, around jobs that do nothing. */

import type { Engine, EnqueueOptions, Handler, OpenOptions, WorkOptions } from '@millrace/engine'
import { type Enqueues, traceEnqueues, traceRun } from '@millrace/otel'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import {
  addSchedules,
  type Beside,
  cancelAndRetry,
  makeAndDelete,
  readEvents,
  readExport,
  schedules,
  subscribeAll,
  tagOthers,
  wait,
  workTicks,
} from './beside.ts'
import { noop, requests, retried, tick } from './jobs.ts'
import { payloadOf } from './payload.ts'

export interface Feature {
  /** The goal: so much of the speed without it, at least. */
  readonly atLeast?: number
  readonly open?: Partial<OpenOptions>
  /** Of the job with this number. */
  readonly options?: (index: number) => EnqueueOptions
  readonly handler?: (handled: (jobs: number) => void) => Handler
  readonly work?: WorkOptions
  /** The attempt at which each job completes, from 1, which is the default. */
  readonly attempt?: number
  /** What enqueues, around the engine. */
  readonly enqueues?: (engine: Engine) => Enqueues
  /** In place of one `enqueue` for each. */
  readonly call?: Call
  /** What is asked of the engine before the first job, and goes on beside them. */
  readonly beside?: (engine: Engine) => Promise<Beside | undefined>
  /** For the whole process, while jobs of this engine are under way: answers how it ends, so that the other engine is without. */
  readonly during?: () => () => void
  /** Asked over and over, one at a time, while jobs are under way. */
  readonly again?: (engine: Engine) => Promise<unknown>
}

/** One call for several jobs of the name that is counted. */
export interface Call {
  readonly jobs: number
  /** `first` is the number of its first job. */
  make(engine: Engine, first: number): Promise<unknown>
}

const CUSTOMERS = 1_000
const PRIORITIES = 10
const FAILURE = new Error('the first attempt of each job')
const TIERS = Object.fromEntries([0, 1, 2].map((tier) => [`tier-${tier}`, { perKeyLimit: 10_000 + tier }]))
const LIST = 100
const FLOW = 10
const PARENT = 'parent'
/** In no job. */
const NOWHERE = 'nowhere to be found'
/** A call with a key, and a second one that the first job answers. */
const twice: Call = {
  jobs: 1,
  make: (engine, first) => {
    const options: EnqueueOptions = { idempotencyKey: `order-${first}` }
    return Promise.all([engine.enqueue(noop, payloadOf(first), options), engine.enqueue(noop, payloadOf(first), options)])
  },
}
const copy = (bytes: Uint8Array): Uint8Array => bytes.slice()

/** The goals of features that belong to the job itself, and of those that add work of their own. */
const CHEAP = 0.8
const DEAR = 0.6

export const FEATURES: Readonly<Record<string, Feature>> = {
  none: {},
  'a limit of the queue, not met': {
    beside: async (engine) => void (await engine.queues.configure('default', { concurrencyLimit: 100_000 })),
  },
  'keys, with a limit that is not met': {
    options: (index) => ({ concurrencyKey: `customer-${index % CUSTOMERS}` }),
    beside: async (engine) => void (await engine.queues.configure('default', { perKeyLimit: 10_000 })),
  },
  'keys in three tiers, with limits that are not met': {
    options: (index) => ({ concurrencyKey: `tier-${index % 3}:customer-${index % CUSTOMERS}` }),
    beside: async (engine) => void (await engine.queues.configure('default', { keyTiers: TIERS })),
  },
  'strict order by key': {
    atLeast: DEAR,
    options: (index) => ({ concurrencyKey: `customer-${index % CUSTOMERS}` }),
    beside: async (engine) => void (await engine.queues.configure('default', { keyOrder: 'strict' })),
  },
  'a rate limit, not met': {
    beside: async (engine) => void (await engine.queues.configure('default', { rateLimit: { limit: 100_000_000 } })),
  },
  'five tokens each, of a rate that is not met': {
    options: () => ({ tokens: 5 }),
    beside: async (engine) => void (await engine.queues.configure('default', { rateLimit: { limit: 100_000_000 } })),
  },
  'a queue that rejects, not full': {
    beside: async (engine) => void (await engine.queues.configure('default', { maxLength: 1_000_000, onFull: 'reject' })),
  },
  'a queue that drops its oldest, not full': {
    beside: async (engine) => void (await engine.queues.configure('default', { maxLength: 1_000_000, onFull: 'drop-oldest' })),
  },
  'a queue for dead letters, without a failure': {
    beside: async (engine) => void (await engine.queues.configure('default', { deadLetter: 'dead' })),
  },
  'two queues, one with a share of 3': {
    options: (index) => ({ queue: index % 2 === 0 ? 'default' : 'beside' }),
    beside: async (engine) => void (await engine.queues.configure('beside', { share: 3 })),
  },
  'two queues with a limit of both, not met': {
    options: (index) => ({ queue: index % 2 === 0 ? 'default' : 'beside' }),
    beside: async (engine) => {
      for (const queue of ['default', 'beside']) await engine.queues.configure(queue, { sharedLimit: { name: 'both', limit: 100_000 } })
      return undefined
    },
  },
  'a worker of all queues by prefix': { work: { queues: ['*'] } },
  'a worker of two queues in strict order': { work: { queues: ['urgent', 'default'], order: 'strict' } },
  'an idempotency key each': { atLeast: CHEAP, options: (index) => ({ idempotencyKey: `order-${index}` }) },
  'a unique key each': { atLeast: CHEAP, options: (index) => ({ unique: { key: `order-${index}` } }) },
  'unique by its data each': { options: () => ({ unique: { by: 'data' } }) },
  'two calls with an idempotency key each': { call: twice },
  'two calls with an idempotency key each, and an event of the second': {
    call: twice,
    beside: async (engine) => void (await engine.queues.configure('default', { repeats: 'event' })),
  },
  'a throttle each': { options: (index) => ({ throttle: { key: `order-${index}`, period: '1h' } }) },
  'a leading debounce each': {
    atLeast: CHEAP,
    options: (index) => ({ debounce: { key: `order-${index}`, delay: '1h', mode: 'leading' } }),
  },
  'a trailing debounce of 1 ms each': { atLeast: CHEAP, options: (index) => ({ debounce: { key: `order-${index}`, delay: 1 } }) },
  'a ttl each': { atLeast: CHEAP, options: () => ({ ttl: '1h' }) },
  'a definition with attempts, a timeout and a backoff': {
    call: { jobs: 1, make: (engine, first) => engine.enqueue(retried, payloadOf(first)) },
    handler: (handled) => retried.handler(() => handled(1)),
  },
  'a priority each': { options: (index) => ({ priority: index % PRIORITIES }) },
  'a failure each, and a retry at once': {
    attempt: 2,
    options: () => ({ backoff: { type: 'fixed', delay: 0 } }),
    handler: (handled) =>
      noop.handler(({ job }) => {
        if (job.attempt === 1) throw FAILURE
        handled(1)
      }),
  },
  'three lost workers without an attempt each': { options: () => ({ maxLost: 3 }) },
  'kept for an hour each': { options: () => ({ keep: '1h' }) },
  'not kept each': { options: () => ({ keep: 0 }) },
  'two tags each': { atLeast: CHEAP, options: (index) => ({ tags: ['bench', `customer-${index % CUSTOMERS}`] }) },
  'a queue paused beside, 10,000 waiting in it': {
    beside: async (engine) => {
      await engine.queues.configure('beside', {})
      await engine.queues.pause('beside')
      await wait(engine, noop, { queue: 'beside' })
    },
  },
  'a job of the queue paused, 10,000 of it waiting': {
    beside: async (engine) => {
      await engine.queues.pause('default', { job: tick.name })
      await wait(engine, tick, {})
      return workTicks(engine)
    },
  },
  'a key paused, 10,000 of it waiting': {
    beside: async (engine) => {
      await engine.queues.pause('default', { key: 'beside' })
      await wait(engine, noop, { concurrencyKey: 'beside' })
    },
  },
  '100 schedules that wait': { beside: schedules({ every: '1s', startAt: new Date('2099-01-01') }) },
  '100 schedules, each once a second': { beside: schedules({ every: '1s' }) },
  '100 schedules that change the job that waits, each once a second': {
    beside: (engine) => addSchedules(engine, { every: '1s', overlap: 'skip', updateWaiting: true }),
  },
  'a listener to all events': {
    beside: async (engine) => {
      let completed = 0
      engine.on('completed', () => void completed++)
      return undefined
    },
  },
  'middleware around enqueues and runs': {
    beside: async (engine) => {
      engine.use({ enqueue: (_, next) => next(), run: (_, next) => next() })
      return undefined
    },
  },
  'a subscriber of diagnostics_channel': { during: subscribeAll },
  'a reader of all events by cursor': { beside: readEvents },
  'an export of all jobs': { beside: readExport },
  'searches, one after another': { again: (engine) => engine.list({ search: NOWHERE }) },
  'searches by the writer, one after another': { open: { readers: 0 }, again: (engine) => engine.list({ search: NOWHERE }) },
  'cancelMany, then retryMany of 500 others, over and over': { beside: tagOthers, again: cancelAndRetry },
  'deleteMany of 500 others, made anew, over and over': { again: makeAndDelete },
  'a handler of 100 at once': {
    handler: (handled) =>
      noop.handler(
        (items) => {
          handled(items.length)
          return items.map(() => ({ output: null }))
        },
        { batch: { size: 100, maxWait: 0 } },
      ),
  },
  'lists of 100': { call: { jobs: LIST, make: (engine, first) => engine.enqueueMany(requests(first, LIST)) } },
  'lists of 100, and a job when all have ended': {
    atLeast: DEAR,
    call: { jobs: LIST, make: (engine, first) => engine.batch(requests(first, LIST), { job: tick }) },
    beside: workTicks,
  },
  'lists of 100, and callbacks by their ends': {
    atLeast: DEAR,
    call: {
      jobs: LIST,
      make: (engine, first) =>
        engine.batch(requests(first, LIST), { onSuccess: { job: tick }, onFailure: { job: tick }, onEnd: { job: tick } }),
    },
    beside: workTicks,
  },
  'flows: nine, and one behind them': {
    atLeast: DEAR,
    call: {
      jobs: FLOW,
      make: (engine, first) => {
        const nodes = requests(first, FLOW).map((request, index) => ({ ...request, ref: `n${index}` }))
        const refs = nodes.slice(1).map(({ ref }) => ref)
        return engine.flow(nodes.map((node, index) => (index === 0 ? { ...node, dependsOn: refs } : node)))
      },
    },
  },
  'nine, joined by one that waits for them': {
    call: { jobs: FLOW, make: (engine, first) => engine.enqueue(noop, payloadOf(first, PARENT)) },
    handler: (handled) =>
      noop.handler(async ({ data, join }) => {
        if (data.tag === PARENT) await join('others', requests(1, FLOW - 1))
        handled(1)
      }),
  },
  'each second one enqueued with the completion of another': {
    call: { jobs: 2, make: (engine, first) => engine.enqueue(noop, payloadOf(first, PARENT)) },
    handler: (handled) =>
      noop.handler(({ data, enqueue }) => {
        if (data.tag === PARENT) enqueue(noop, payloadOf(0))
        handled(1)
      }),
  },
  'a line in the log each': {
    handler: (handled) =>
      noop.handler(({ log }) => {
        log('info', 'done')
        handled(1)
      }),
  },
  'a line in the log each, of 10,000 that are kept': {
    options: () => ({ logLines: 10_000 }),
    handler: (handled) =>
      noop.handler(({ log }) => {
        log('info', 'done')
        handled(1)
      }),
  },
  'spans of each, kept nowhere': {
    atLeast: DEAR,
    enqueues: (engine) => {
      trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [] }))
      context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
      propagation.setGlobalPropagator(new W3CTraceContextPropagator())
      return traceEnqueues(engine)
    },
    handler: (handled) => noop.handler(traceRun(() => handled(1))),
  },
  'a codec that copies': { open: { codec: { encode: copy, decode: copy } } },
  'redact, and a line in the log each': {
    open: { redact: ({ message }) => ({ message }) },
    handler: (handled) =>
      noop.handler(({ log }) => {
        log('info', 'done')
        handled(1)
      }),
  },
  'what is deleted is overwritten': { open: { secureDelete: true } },
  'completed jobs are kept for a second': { open: { retention: { completed: { age: '1s' } } } },
  'completed jobs are not kept': { open: { retention: { completed: 0 } } },
}
