/** Fills an engine as days of work would: every state, kinds of failures, limits, pauses, schedules, workers and flows. */
import { EventEmitter, once } from 'node:events'
import { defineJob, type Engine } from '@millrace/engine'
import { seededRandom } from '@millrace/testkit/internal'

/** The fate of a job: its handler reads it. */
interface Fate {
  readonly customer: string
  readonly amount: number
  readonly will: 'complete' | 'fail' | 'run'
  readonly error?: readonly [name: string, message: string]
}

export interface Filled {
  /** The ids of jobs, one of each kind, and the id of a flow. */
  readonly ids: Readonly<Record<'completed' | 'failed' | 'active' | 'waiting' | 'scheduled' | 'retrying' | 'blocked' | 'flow', string>>
  /** The numbers of jobs in states that nothing changes any more. */
  readonly counts: Counts
}

export const COUNTS = { completed: 60, declined: 24, bounced: 9, active: 4, paused: 12, unserved: 7, scheduled: 5, retrying: 3 } as const

export type Counts = Readonly<Record<keyof typeof COUNTS, number>>

/** Enough for a job of each kind, in tables that are short. */
export const FEW: Counts = { completed: 2, declined: 3, bounced: 2, active: 2, paused: 2, unserved: 2, scheduled: 2, retrying: 1 }

const ENDLESS = { timeout: Number.POSITIVE_INFINITY } as const

const charge = defineJob<Fate, { receipt: string }>({ name: 'charge', queue: 'billing', maxAttempts: 1 })
const refund = defineJob<Fate>({ name: 'refund', queue: 'billing', maxAttempts: 5, backoff: { type: 'fixed', delay: '1h' } })
const welcome = defineJob<Fate>({ name: 'send-welcome', queue: 'mail', maxAttempts: 1 })
const resize = defineJob<Fate>({ name: 'resize', queue: 'media', ...ENDLESS })
const transcode = defineJob<Fate>({ name: 'transcode', queue: 'media', ...ENDLESS })
const row = defineJob<Fate>({ name: 'import-row', queue: 'imports' })
const reindex = defineJob<Fate>({ name: 'reindex', queue: 'search' })
const report = defineJob<Fate>({ name: 'report', queue: 'reports' })

/** Resolves when all of it is there and nothing moves but the jobs that run, which end with the engine. */
export async function fill(engine: Engine, counts: Counts = COUNTS): Promise<Filled> {
  const random = seededRandom(1)
  const fate = (will: Fate['will'], error?: Fate['error']): Fate => {
    const customer = `customer-${Math.floor(random() * 40)}`
    return { customer, amount: Math.floor(random() * 90_000) + 100, will, ...(error !== undefined && { error }) }
  }
  await configure(engine, counts)
  const settled = settlement(engine, counts)
  work(engine, settled.started)
  const many = (count: number, make: () => Fate) => Array.from({ length: count }, make)
  const declined = () => fate('fail', ['PaymentDeclined', `card ending ${Math.floor(random() * 90_000) + 10_000} declined`])
  const bounced = () => fate('fail', ['SmtpError', '421 mail.example.com: try again later'])
  const ended = await engine.enqueueMany([
    ...many(counts.declined, declined).map((data) => ({ job: charge, data, options: optionsOf(data) })),
    ...many(counts.completed, () => fate('complete')).map((data) => ({ job: charge, data, options: optionsOf(data) })),
    ...many(counts.bounced, bounced).map((data) => ({ job: welcome, data, options: optionsOf(data) })),
  ])
  await engine.enqueueMany([
    ...many(counts.active, () => fate('run')).map((data, at) => ({
      job: at % 2 === 0 ? resize : transcode,
      data,
      options: optionsOf(data),
    })),
    ...many(counts.retrying, () => fate('fail', ['TimeoutError', 'no answer from 10.0.0.7 within 5 s'])).map((data) => ({
      job: refund,
      data,
    })),
  ])
  const waiting = await engine.enqueueMany([
    ...many(counts.paused, () => fate('complete')).map((data) => ({ job: row, data, options: optionsOf(data) })),
    ...many(counts.unserved, () => fate('complete')).map((data) => ({ job: reindex, data, options: optionsOf(data) })),
  ])
  const scheduled = await engine.enqueueMany(
    many(counts.scheduled, () => fate('complete')).map((data, at) => ({ job: report, data, options: { delay: `${at + 1}h` as const } })),
  )
  const { id: flow, jobs } = await engine.flow([
    { ref: 'template', job: reindex, data: fate('complete') },
    { ref: 'home', job: report, data: fate('complete'), dependsOn: ['template'] },
    { ref: 'news', job: report, data: fate('complete'), dependsOn: ['template'] },
    { ref: 'site', job: report, data: fate('complete'), dependsOn: ['home', 'news'] },
  ])
  await Promise.allSettled(ended.map((handle) => handle.result()))
  const [active, retrying] = await settled.all()
  const ids = { completed: ended[counts.declined]?.id, failed: ended[0]?.id, active, waiting: waiting[0]?.id, scheduled: scheduled[0]?.id }
  return { ids: { ...ids, retrying, blocked: jobs.site.id, flow } as Filled['ids'], counts }
}

const optionsOf = ({ customer }: Fate) => ({ concurrencyKey: customer, tags: [customer] })

async function configure({ queues, schedules }: Engine, counts: Counts): Promise<void> {
  await queues.configure('billing', { concurrencyLimit: 4, perKeyLimit: 2 })
  await queues.configure('mail', { rateLimit: { limit: 10_000, period: '1m' } })
  await queues.configure('media', { concurrencyLimit: counts.active })
  await queues.configure('imports', {})
  await queues.pause('imports')
  await schedules.upsert(
    'report/daily',
    { cron: '30 2 * * *', timezone: 'Europe/Berlin' },
    { job: report, data: { of: 'yesterday' } as never },
  )
  await schedules.upsert('poll/eu', { every: '6h' }, { job: 'poll', data: {} })
  await schedules.upsert('cleanup', { cron: '0 4 * * SUN', paused: true }, { job: 'cleanup', data: {} })
}

/** Collects the jobs that run and those that wait for another attempt, by their events. */
function settlement(engine: Engine, counts: Counts) {
  const running: string[] = []
  const retrying: string[] = []
  const emitter = new EventEmitter<{ more: [] }>()
  const note = (ids: string[], id: string) => {
    ids.push(id)
    emitter.emit('more')
  }
  engine.on('retrying', ({ jobId }) => note(retrying, jobId))
  return {
    started: (id: string) => note(running, id),
    async all(): Promise<readonly [active: string | undefined, retrying: string | undefined]> {
      while (running.length < counts.active || retrying.length < counts.retrying) await once(emitter, 'more')
      return [running[0], retrying[0]]
    },
  }
}

function work(engine: Engine, started: (id: string) => void): void {
  const hang = [resize, transcode].map((job) =>
    job.handler(async ({ job: { id }, signal, progress, log }) => {
      progress(0.4, 'halfway')
      log('info', 'began', { id })
      started(id)
      await once(signal, 'abort')
    }),
  )
  const end = [charge, refund, welcome, row, report].map((job) =>
    (job as typeof charge).handler(({ data, log }) => {
      log('info', `for ${data.customer}`, { amount: data.amount })
      if (data.will !== 'fail') return { receipt: `r-${data.amount}` }
      const [name, message] = data.error ?? ['Error', 'it failed']
      throw Object.assign(new Error(message), { name })
    }),
  )
  engine.work(end, { id: 'worker-fra-1', concurrency: 8 })
  engine.work([...end, ...hang], { id: 'worker-fra-2', concurrency: 16 })
}
