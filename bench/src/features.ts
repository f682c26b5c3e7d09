/** Each feature as somebody would use it, around jobs that do nothing. */
import type { Engine, EnqueueOptions, Handler, OpenOptions, ScheduleOptions } from '@millrace/engine'
import { noop, tick } from './jobs.ts'

/** Ends what goes on beside the jobs, once that has seen so many of them. */
export type Stop = (jobs: number) => Promise<void>

export interface Feature {
  readonly open?: Partial<OpenOptions>
  /** Of the job with this number. */
  readonly options?: (index: number) => EnqueueOptions
  readonly handler?: (handled: (jobs: number) => void) => Handler
  /** What is asked of the engine before the first job, and goes on beside them. */
  readonly beside?: (engine: Engine) => Promise<Stop | undefined>
}

const CUSTOMERS = 1_000
const SCHEDULES = 100
const copy = (bytes: Uint8Array): Uint8Array => bytes.slice()

export const FEATURES: Readonly<Record<string, Feature>> = {
  none: {},
  'a limit of the queue, not met': {
    beside: async (engine) => void (await engine.queues.configure('default', { concurrencyLimit: 100_000 })),
  },
  'keys, with a limit that is not met': {
    options: (index) => ({ concurrencyKey: `customer-${index % CUSTOMERS}` }),
    beside: async (engine) => void (await engine.queues.configure('default', { perKeyLimit: 10_000 })),
  },
  'an idempotency key each': { options: (index) => ({ idempotencyKey: `order-${index}` }) },
  'a unique key each': { options: (index) => ({ unique: { key: `order-${index}` } }) },
  'a throttle each': { options: (index) => ({ throttle: { key: `order-${index}`, period: '1h' } }) },
  'a ttl each': { options: () => ({ ttl: '1h' }) },
  'two tags each': { options: (index) => ({ tags: ['bench', `customer-${index % CUSTOMERS}`] }) },
  '100 schedules that wait': { beside: schedules({ every: '1s', startAt: new Date('2099-01-01') }) },
  '100 schedules, each once a second': { beside: schedules({ every: '1s' }) },
  'a listener to all events': {
    beside: async (engine) => {
      let completed = 0
      engine.on('completed', () => void completed++)
      return undefined
    },
  },
  'a reader of all events by cursor': { beside: readEvents },
  'an export of all jobs': { beside: readExport },
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
  'a line in the log each': {
    handler: (handled) =>
      noop.handler(({ log }) => {
        log('info', 'done')
        handled(1)
      }),
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
  'completed jobs are not kept': { open: { retention: { completed: 0 } } },
}

/** Their jobs are done as well, beside those that count. */
function schedules(options: ScheduleOptions): NonNullable<Feature['beside']> {
  return async (engine) => {
    const worker = engine.work(tick.handler(() => {}))
    for (let index = 0; index < SCHEDULES; index++) await engine.schedules.upsert(`bench-${index}`, options, { job: tick })
    return () => worker.stop()
  }
}

async function readEvents(engine: Engine): Promise<Stop> {
  const ending = new AbortController()
  let completed = 0
  let wanted = Number.POSITIVE_INFINITY
  const { promise: all, resolve } = Promise.withResolvers<void>()
  const reading = (async () => {
    for await (const event of engine.events({ signal: ending.signal })) if (event.type === 'completed' && ++completed >= wanted) resolve()
  })().catch((error: unknown) => {
    if (!ending.signal.aborted) throw error
  })
  return async (jobs) => {
    wanted = jobs
    if (completed < wanted) await Promise.race([all, reading])
    ending.abort()
    await reading
  }
}

async function readExport(engine: Engine): Promise<Stop> {
  const ending = new AbortController()
  let exported = 0
  let wanted = Number.POSITIVE_INFINITY
  const { promise: all, resolve } = Promise.withResolvers<void>()
  const reading = (async () => {
    for await (const { jobs } of engine.exports.read('bench', { limit: 200, signal: ending.signal })) {
      exported += jobs.length
      if (exported >= wanted) resolve()
    }
  })().catch((error: unknown) => {
    if (!ending.signal.aborted) throw error
  })
  return async (jobs) => {
    wanted = jobs
    if (exported < wanted) await Promise.race([all, reading])
    ending.abort()
    await reading
  }
}
