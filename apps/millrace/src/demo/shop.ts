/** Sets up the queues and schedules of the demo, starts its workers, and sends work until it ends. */
import type { Engine } from '@millrace/client'
import { handlersOf, type Pause } from './handlers.ts'
import { KINDS, WORKERS } from './kinds.ts'
import { TICK_MS, tickOf } from './stream.ts'

export interface ShopOptions {
  readonly seed: number
  /** Multiplies the number of jobs. */
  readonly rate: number
  readonly signal: AbortSignal
  readonly now: () => number
  readonly pause: Pause
}

export const SAMPLES = [
  { title: 'Enqueue a job', job: 'send-receipt', data: { to: 'you@example.com', order: 1 }, options: { queue: 'mail' } },
  {
    title: 'Enqueue one that fails',
    job: 'send-receipt',
    data: { to: 'you@example.com', order: 2, fail: true },
    options: { queue: 'mail', maxAttempts: 1 },
  },
] as const

/** The ticks that are sent at once at the start, so that there is something to look at. */
const AHEAD_TICKS = 120

/** Resolves when everything is in place and the first work is sent. */
export async function openShop(engine: Engine, { seed, rate, pause }: ShopOptions): Promise<void> {
  const { queues, schedules } = engine
  await queues.configure('mail', { rateLimit: { limit: 5, period: '1s' }, concurrencyLimit: 6 })
  await queues.configure('images', { concurrencyLimit: 4, perKeyLimit: 2 })
  await queues.configure('billing', { concurrencyLimit: 3 })
  await queues.configure('imports', { maxLength: 200, onFull: 'drop-oldest' })
  await queues.configure('search', {})
  await queues.configure('reports', { concurrencyLimit: 2 })
  await queues.configure('orders', { concurrencyLimit: 6 })
  await queues.pause('imports')
  const ping = { job: 'ping-gateway', data: {} }
  const report = { job: 'build-report', data: { about: 'the day', shop: 'all' }, options: { queue: 'reports' } }
  await schedules.upsert('ping-gateway', { every: '20s', runImmediately: true }, ping)
  await schedules.upsert('report/nightly', { cron: '0 3 * * *', timezone: 'Europe/Berlin' }, report)
  await schedules.upsert('report/weekly', { cron: '0 8 * * 1', timezone: 'Europe/Berlin', paused: true }, report)
  for (const [id, concurrency] of Object.entries(WORKERS)) engine.work([...handlersOf(id, seed, pause)], { id, concurrency })
  for (let tick = 0; tick < AHEAD_TICKS; tick++) await send(engine, seed, tick, rate)
}

/** Sends the work of each tick when it is due, until the signal aborts. A tick that is late is sent at once. */
export async function keepBusy(engine: Engine, { seed, rate, signal, now, pause }: ShopOptions): Promise<void> {
  const beganAt = now()
  for (let tick = 0; !signal.aborted; tick++) {
    await send(engine, seed, AHEAD_TICKS + tick, rate)
    await pause(Math.max(0, beganAt + (tick + 1) * TICK_MS - now()), signal)
  }
}

/** Returns the average number of jobs in a minute, those of flows left out. */
export function jobsPerMinute(rate: number): number {
  return Math.round(rate * KINDS.reduce((sum, { perMinute }) => sum + perMinute, 0))
}

async function send(engine: Engine, seed: number, tick: number, rate: number): Promise<void> {
  const { jobs, flow } = tickOf(seed, tick, rate)
  if (jobs.length > 0) await engine.enqueueMany(jobs)
  if (flow !== undefined) await engine.flow(flow)
}
