/** `engine.schedules`: jobs that come by themselves. */
import {
  changedSchedule,
  checkScheduleChanges,
  checkScheduledJob,
  type Enqueued,
  type EnqueueOptions,
  formatId,
  type NewJob,
  nameOption,
  newJobFrom,
  OptionTypeError,
  type RunError,
  ScheduleChangedError,
  type ScheduleGetOptions,
  type ScheduleListOptions,
  ScheduleNotFoundError,
  type ScheduleOptions,
  type ScheduleSpec,
  type ScheduleTimes,
  type ScheduleView,
  type State,
  scheduleIdOption,
  type TriggerOptions,
  type UpsertScheduleCommand,
  validateScheduleGetOptions,
  validateScheduleListOptions,
  validateScheduleOptions,
  validateTriggerOptions,
} from '@millrace/core'
import type { DataField, InputOf, JobOrName, JobType, OutputOf, Stored } from '@millrace/worker'
import { systemCalendar } from './calendar/calendar.ts'
import type { JobHandle } from './handle.ts'
import type { Mailbox } from './mailbox.ts'
import { itemOf, newJobOf } from './newJobs.ts'
import type { EngineSetup } from './setup.ts'
import { dateOf, shown } from './view.ts'

/** The options of a scheduled job: without keys, `delay` and `runAt`. */
export type ScheduledOptions = Omit<
  EnqueueOptions,
  'delay' | 'runAt' | 'idempotencyKey' | 'idempotencyTtl' | 'unique' | 'debounce' | 'throttle'
>

/** The job that comes at each tick: `{ job, data, options }`. */
export type ScheduledJob<Job extends JobOrName = JobOrName> = { readonly job: Job; readonly options?: ScheduledOptions } & DataField<
  InputOf<Job>
>

/**
 * Single fields of a schedule and its job: a field that is left out stays as it is. `options` takes the place of all options that the job
 * had; `data` is checked by the definition in `job`, if one is given beside it.
 */
export interface ScheduleChanges<Job extends JobOrName = JobOrName> extends ScheduleTimes {
  readonly job?: Job
  readonly data?: InputOf<Job>
  readonly options?: ScheduledOptions
}

/** What a call that sets a schedule answers. */
export interface ScheduleSet {
  readonly id: string
  readonly created: boolean
  /** Undefined while it is paused, and after its last tick. */
  readonly nextRunAt: Date | undefined
}

/** How often `update` reads a schedule again that others change at the same moment. */
const UPDATE_TRIES = 10

export interface Schedule<Data = unknown, Output = unknown> extends Omit<ScheduleSpec, 'startAt' | 'endAt'> {
  readonly id: string
  readonly startAt: Date | undefined
  readonly endAt: Date | undefined
  /** Name of its jobs. */
  readonly job: string
  /** Undefined in lists. */
  readonly data: Data | undefined
  /** What its jobs are enqueued with. Durations in milliseconds. */
  readonly options: Readonly<Record<string, unknown>>
  readonly paused: boolean
  /** Undefined while it is paused, and after its last tick. In the past while a tick waits for the job of an earlier one. */
  readonly nextRunAt: Date | undefined
  /** The times that come next, as many as `get` was asked for. */
  readonly nextRuns: readonly Date[]
  /** The tick that fired last. */
  readonly lastRunAt: Date | undefined
  /** The job that came last. */
  readonly lastJobId: string | undefined
  /** How far that job is, where it is still kept; undefined in lists. */
  readonly lastResult: { readonly state: State; readonly output: Output | undefined; readonly error: RunError | undefined } | undefined
  /** Jobs that have come. */
  readonly runs: number
  /** Ticks that were lost to `overlap: 'skip'`. */
  readonly skipped: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface SchedulePage {
  readonly schedules: readonly Schedule[]
  /** Pass as `after` for the next page; undefined at the end. */
  readonly next: string | undefined
}

export class Schedules {
  readonly #calls: Pick<Mailbox, 'call'>
  readonly #setup: Pick<EngineSetup, 'maxDataBytes'>
  readonly #handle: (job: Enqueued) => JobHandle

  /** @internal Made by the engine. */
  constructor(calls: Pick<Mailbox, 'call'>, setup: Pick<EngineSetup, 'maxDataBytes'>, handle: (job: Enqueued) => JobHandle) {
    this.#calls = calls
    this.#setup = setup
    this.#handle = handle
  }

  /**
   * Creates the schedule, or changes it. One whose ticks are as before keeps its next: call it at each start.
   *
   * @throws OptionTypeError, OptionRangeError, ValidationError
   */
  upsert<Job extends JobOrName>(id: string, options: ScheduleOptions, job: ScheduledJob<Job>): Promise<ScheduleSet> {
    return this.#set(id, options, job as ScheduledJob, false)
  }

  /**
   * Creates the schedule; one with that id is refused and stays as it is.
   *
   * @throws OptionTypeError, OptionRangeError, ValidationError, ScheduleExistsError
   */
  add<Job extends JobOrName>(id: string, options: ScheduleOptions, job: ScheduledJob<Job>): Promise<ScheduleSet> {
    return this.#set(id, options, job as ScheduledJob, true)
  }

  /**
   * Changes single fields of a schedule; the others stay as they are, even if another call changes them at the same time.
   *
   * @throws OptionTypeError, OptionRangeError, ValidationError, ScheduleNotFoundError; ScheduleChangedError if others change it without
   * end
   */
  async update<Job extends JobOrName = JobOrName>(id: string, changes: ScheduleChanges<Job>): Promise<ScheduleSet> {
    checkScheduleChanges(changes)
    for (let tries = 1; ; tries++) {
      const view = await this.#calls.call<'getSchedule'>({ op: 'getSchedule', id: scheduleIdOption(id), times: 0 })
      if (view === null) throw new ScheduleNotFoundError(`there is no schedule '${id}'`, { scheduleId: id })
      const { updatedAt } = view
      const { spec, paused } = changedSchedule(view.spec, changes, systemCalendar)
      const job = await changedJob(view.job, changes as ScheduleChanges, this.#setup.maxDataBytes)
      try {
        return await this.#put({ id, spec, job, runImmediately: false, ...(paused !== undefined && { paused }), updatedAt })
      } catch (error) {
        if (!(error instanceof ScheduleChangedError) || tries === UPDATE_TRIES) throw error
      }
    }
  }

  async #set(id: string, options: ScheduleOptions, job: ScheduledJob, absent: boolean): Promise<ScheduleSet> {
    const { spec, runImmediately, paused } = validateScheduleOptions(options, systemCalendar)
    const { job: definition, data, options: jobOptions } = itemOf(job, 'job')
    const wanted = await newJobOf(definition, data, jobOptions, this.#setup.maxDataBytes)
    const settings = { ...(paused !== undefined && { paused }), ...(absent && { absent }) }
    return this.#put({ id, spec, job: wanted, runImmediately, ...settings })
  }

  async #put({ id, job, ...settings }: Omit<UpsertScheduleCommand, 'op'>): Promise<ScheduleSet> {
    const command = { op: 'upsertSchedule', id: scheduleIdOption(id), job: checkScheduledJob(job), ...settings } as const
    const { created, fireAt } = await this.#calls.call<'upsertSchedule'>(command)
    return { id, created, nextRunAt: dateOf(fireAt) }
  }

  /** The schedule, or undefined if there is none of that id. `get<typeof report>(id)` gives the types of its job's data and output. */
  async get<Type extends JobType = JobType>(
    id: string,
    options?: ScheduleGetOptions,
  ): Promise<Schedule<Stored<InputOf<Type>>, OutputOf<Type>> | undefined>
  async get(id: string, options?: ScheduleGetOptions): Promise<Schedule | undefined> {
    const times = validateScheduleGetOptions(options)
    const view = await this.#calls.call<'getSchedule'>({ op: 'getSchedule', id: scheduleIdOption(id), times })
    return view === null ? undefined : scheduleOf(view)
  }

  /** A page of schedules, in the order of their ids. */
  async list(options?: ScheduleListOptions): Promise<SchedulePage> {
    const page = validateScheduleListOptions(options)
    const { schedules, next } = await this.#calls.call<'listSchedules'>({ op: 'listSchedules', ...page })
    return { schedules: schedules.map(scheduleOf), next: next ?? undefined }
  }

  /** Removes the schedule, and its job where that has not started. Throws ScheduleNotFoundError, as all that follow. */
  async delete(id: string): Promise<void> {
    await this.#calls.call<'deleteSchedule'>({ op: 'deleteSchedule', id: scheduleIdOption(id) })
  }

  /** No tick fires until it is resumed. */
  async pause(id: string): Promise<void> {
    await this.#calls.call<'pauseSchedule'>({ op: 'pauseSchedule', id: scheduleIdOption(id) })
  }

  /** Goes on with the first tick from now: what has gone by meanwhile is not caught up. */
  async resume(id: string): Promise<void> {
    await this.#calls.call<'resumeSchedule'>({ op: 'resumeSchedule', id: scheduleIdOption(id) })
  }

  /**
   * Its job comes now, beside its ticks. While the last one is not final, that one is the answer (`created` is false), or is cancelled
   * first (`overlap: 'cancel'`). `trigger<typeof report>(id)` gives the type of its output.
   *
   * @throws OptionTypeError, OptionRangeError; InvalidScheduleError where the `meta` of both is too much
   */
  async trigger<Type extends JobType = JobType>(id: string, options?: TriggerOptions): Promise<JobHandle<OutputOf<Type>>>
  async trigger(id: string, options?: TriggerOptions): Promise<JobHandle> {
    const told = validateTriggerOptions(options)
    const [job] = await this.#calls.call<'triggerSchedule'>({ op: 'triggerSchedule', id: scheduleIdOption(id), ...told })
    return this.#handle(job as Enqueued)
  }
}

async function changedJob(before: NewJob, changes: ScheduleChanges, maxDataBytes: number): Promise<NewJob> {
  const { job = before.name, options } = changes
  if (typeof job !== 'string' && typeof job?.name !== 'string')
    throw new OptionTypeError('job', 'a job is named by its definition (defineJob) or by its name')
  const name = typeof job === 'string' ? nameOption('name', job) : job.name
  const data = changes.data === undefined ? before.data : (await newJobOf(job, changes.data, undefined, maxDataBytes)).data
  if (options === undefined) return { ...before, name, data }
  return newJobFrom(name, data, options, typeof job === 'string' ? undefined : job.defaults)
}

function scheduleOf(view: ScheduleView): Schedule {
  const { spec, job, result } = view
  const { name, data, meta, ...options } = job
  return {
    ...spec,
    id: view.id,
    startAt: dateOf(spec.startAt ?? 0),
    endAt: dateOf(spec.endAt ?? 0),
    job: name,
    data: shown(data),
    options: meta === undefined ? options : { ...options, meta: shown(meta) },
    paused: view.paused,
    nextRunAt: dateOf(view.fireAt),
    nextRuns: view.times.map((at) => new Date(at)),
    lastRunAt: dateOf(view.lastAt),
    lastJobId: view.last === null ? undefined : formatId(view.last),
    lastResult: result === null ? undefined : { state: result.state, output: shown(result.output), error: result.error ?? undefined },
    runs: view.fired,
    skipped: view.skipped,
    createdAt: new Date(view.createdAt),
    updatedAt: new Date(view.updatedAt),
  }
}
