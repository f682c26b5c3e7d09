/** What goes on in an engine beside the jobs that are measured. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Engine, EnqueueOptions, JobRequest, JobType, ScheduleOptions } from '@millrace/engine'
import { other, tick } from './jobs.ts'
import { BACKLOG_TAG, payloadOf } from './payload.ts'

export interface Beside {
  /** Once it has seen so many jobs, of all so far. */
  readonly seen?: (jobs: number) => Promise<unknown>
  readonly stop: () => Promise<void>
}

const SCHEDULES = 100
const EXPORT_LIMIT = 200
const WAITING = 10_000
const LIST = 1_000
const OTHERS = 500
const TAG = 'others'
const CHANNELS = ['millrace:enqueued', 'millrace:started', 'millrace:ended']

/** These jobs are done as well, beside those that count. */
export async function workTicks(engine: Engine): Promise<Beside> {
  const worker = engine.work(tick.handler(() => {}))
  return { stop: () => worker.stop() }
}

export async function addSchedules(engine: Engine, options: ScheduleOptions): Promise<undefined> {
  for (let index = 0; index < SCHEDULES; index++) await engine.schedules.upsert(`bench-${index}`, options, { job: tick })
  return undefined
}

export function schedules(options: ScheduleOptions): (engine: Engine) => Promise<Beside> {
  return async (engine) => {
    await addSchedules(engine, options)
    return workTicks(engine)
  }
}

/** Hears all that this process tells tracers. Answers how to hear it no more. */
export function subscribeAll(): () => void {
  const heard = new Set<unknown>()
  const hear = (_message: unknown, channel: string | symbol): void => void heard.add(channel)
  for (const name of CHANNELS) subscribe(name, hear)
  return () => {
    for (const name of CHANNELS) unsubscribe(name, hear)
    if (heard.size < CHANNELS.length) throw new Error(`of ${CHANNELS} only ${[...heard]} told anything`)
  }
}

export async function readEvents(engine: Engine): Promise<Beside> {
  return follow(async (signal, saw) => {
    for await (const event of engine.events({ signal })) if (event.type === 'completed') saw(1)
  })
}

export async function readExport(engine: Engine): Promise<Beside> {
  return follow(async (signal, saw) => {
    for await (const { jobs } of engine.exports.read('bench', { limit: EXPORT_LIMIT, signal })) saw(jobs.length)
  })
}

/** Jobs that wait as long as the engine runs: whoever calls has paused them. */
export async function wait(engine: Engine, job: JobType, options: EnqueueOptions): Promise<void> {
  const lot = Array<JobRequest>(LIST).fill({ job, data: payloadOf(0, BACKLOG_TAG), options })
  for (let made = 0; made < WAITING; made += LIST) await engine.enqueueMany(lot)
}

export async function tagOthers(engine: Engine): Promise<undefined> {
  const request: JobRequest = { job: other, data: payloadOf(0, BACKLOG_TAG), options: { tags: [TAG] } }
  await engine.enqueueMany(Array<JobRequest>(OTHERS).fill(request))
}

export async function cancelAndRetry(engine: Engine): Promise<void> {
  expectOthers(await engine.cancelMany({ tag: TAG }))
  expectOthers(await engine.retryMany({ tag: TAG }))
}

export async function makeAndDelete(engine: Engine): Promise<void> {
  await tagOthers(engine)
  expectOthers(await engine.deleteMany({ tag: TAG }))
}

function expectOthers({ changed }: { readonly changed: number }): void {
  if (changed !== OTHERS) throw new Error(`${changed} of ${OTHERS} others were changed`)
}

function follow(read: (signal: AbortSignal, saw: (jobs: number) => void) => Promise<void>): Beside {
  const ending = new AbortController()
  let count = 0
  let wanted = Number.POSITIVE_INFINITY
  let all = Promise.withResolvers<void>()
  const reading = read(ending.signal, (jobs) => {
    count += jobs
    if (count >= wanted) all.resolve()
  }).catch((error: unknown) => {
    if (!ending.signal.aborted) throw error
  })
  return {
    seen: async (jobs) => {
      wanted = jobs
      all = Promise.withResolvers()
      // What it cannot read is no reason to wait for ever.
      if (count < wanted) await Promise.race([all.promise, reading])
    },
    stop: async () => {
      ending.abort()
      await reading
    },
  }
}
