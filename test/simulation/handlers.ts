/** Handlers that do what their job says, and tell the checker of every start and end. */
import type { Clock } from '@millrace/core'
import { NonRetryableError, RetryAfterError } from '@millrace/core'
import { type Context, defineJob, type Handler } from '@millrace/worker'
import type { Checker } from './checker.ts'
import type { Client } from './client.ts'
import type { Scheduler } from './scheduler.ts'

export const ACTS = [
  'ok',
  'ok',
  'ok',
  'ok',
  'long',
  'throw',
  'flaky',
  'fatal',
  'retryAfter',
  'snooze',
  'discard',
  'checkpoint',
  'heartbeat',
  'log',
  'child',
  'deaf',
] as const

export interface Task {
  readonly number: number
  readonly act: (typeof ACTS)[number]
  readonly ms: number
}

const backoff = { type: 'fixed', delay: 20 } as const
export const JOBS = ['a', 'b', 'c'].map((name) => defineJob<Task>({ name, backoff, timeout: 3_000 }))
/** Of the jobs that handlers create: above all others. */
export const CHILDREN = 1_000_000

export interface HandlersOptions {
  readonly client: Client
  readonly checker: Checker
  readonly clock: Clock
  readonly scheduler: Scheduler
  readonly strict: boolean
}

export function handlersFor({ client, checker, clock, scheduler, strict }: HandlersOptions): Handler[] {
  const sleep = (ms: number) => new Promise<void>((resolve) => clock.setTimer(ms, resolve))
  const handle = async (context: Context<Task>): Promise<unknown> => {
    const { job, data, signal } = context
    checker.note(scheduler.mono, client.name, 'starts', job.id, job.run, job.attempt, data.act)
    checker.started(job.id, job.run, job.attempt, job.maxAttempts, () => client.dead || signal.aborted, strict)
    try {
      const output = await act(context, sleep)
      if (!client.dead) checker.note(scheduler.mono, client.name, 'ends', job.id, job.run)
      return output
    } finally {
      if (!client.dead) checker.ended(job.id, job.run)
    }
  }
  return JOBS.map((definition) => definition.handler(handle))
}

async function act(context: Context<Task>, sleep: (ms: number) => Promise<void>): Promise<unknown> {
  const { data, job, signal } = context
  await sleep(data.ms)
  switch (data.act) {
    case 'throw':
      throw new Error('always')
    case 'flaky':
      if (job.attempt === 1) throw new Error('at first')
      return 'then'
    case 'fatal':
      throw new NonRetryableError('never')
    case 'retryAfter':
      throw new RetryAfterError(50)
    case 'snooze':
      if (job.run < 3) context.snooze(30)
      return 'late'
    case 'discard':
      return context.discard('not wanted')
    case 'checkpoint':
      await context.checkpoint({ at: job.run })
      await sleep(data.ms)
      return job.checkpoint
    case 'heartbeat':
      for (let beat = 0; beat < 3; beat++) {
        await sleep(data.ms)
        await context.heartbeat()
      }
      return 'alive'
    case 'log':
      context.log('info', `run ${job.run}`)
      context.progress(0.5, 'half')
      return undefined
    case 'child':
      context.enqueue(JOBS[0] as (typeof JOBS)[0], { number: CHILDREN + data.number, act: 'ok', ms: 1 })
      return undefined
    case 'long':
      for (let part = 0; part < 10 && !signal.aborted; part++) await sleep(data.ms)
      return 'long'
    case 'deaf':
      // Past its deadline and its grace, whatever the signal says.
      await sleep(4_500)
      return 'deaf'
    default:
      return data.number
  }
}
