/** `engine.schedules`: recurring jobs. */
import {
  changedSchedule,
  checkNone,
  checkScheduleChanges,
  checkScheduledJob,
  type Enqueued,
  type EnqueueOptions,
  formatId,
  isErrorOf,
  type NewJob,
  nameOption,
  newJobFrom,
  OptionTypeError,
  type RunError,
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

/** The options of a scheduled job: those of `enqueue` without keys, `delay` and `runAt`. */
export type ScheduledOptions = Omit<
  EnqueueOptions,
  'delay' | 'runAt' | 'idempotencyKey' | 'idempotencyTtl' | 'unique' | 'debounce' | 'throttle'
>

/** The job that is enqueued at each tick: `{ job, data, options }`. */
export type ScheduledJob<Job extends JobOrName = JobOrName> = { readonly job: Job; readonly options?: ScheduledOptions } & DataField<
  InputOf<Job>
>

/**
 * Single fields of a schedule and its job: a field that is left out stays as it is. `options` replaces all options of the
 * job. `data` is checked by the definition in `job`, if one is given with it.
 */
export interface ScheduleChanges<Job extends JobOrName = JobOrName> extends ScheduleTimes {
  readonly job?: Job
  readonly data?: InputOf<Job>
  readonly options?: ScheduledOptions
}

/** The result of a call that sets a schedule. */
export interface ScheduleSet {
  readonly id: string
  readonly created: boolean
  /** The next tick; undefined while the schedule is paused, and after its last tick. */
  readonly nextRunAt: Date | undefined
  /** With `updateWaiting`, the number of waiting jobs that were changed: 0 or 1. Otherwise undefined. */
  readonly waitingUpdated: number | undefined
}

/** The number of times that `update` reads a schedule that other calls change at the same moment. */
const UPDATE_TRIES = 10

/** A schedule, its next times and its last job. */
export interface Schedule<Data = unknown, Output = unknown> extends Omit<ScheduleSpec, 'startAt' | 'endAt'> {
  readonly id: string
  readonly startAt: Date | undefined
  readonly endAt: Date | undefined
  /** The name of its jobs. */
  readonly job: string
  /** The data of its jobs; undefined in lists. */
  readonly data: Data | undefined
  /** The options that its jobs are enqueued with. Durations are in milliseconds. */
  readonly options: Readonly<Record<string, unknown>>
  readonly paused: boolean
  /**
   * The next tick; undefined while the schedule is paused, and after its last tick. It is in the past while a tick waits
   * for the job of an earlier one.
   */
  readonly nextRunAt: Date | undefined
  /** The next ticks, as many as `get` was asked for. */
  readonly nextRuns: readonly Date[]
  /** The last tick that fired. */
  readonly lastRunAt: Date | undefined
  /** The id of the last job that was created. */
  readonly lastJobId: string | undefined
  /** The state and result of that job, if it is still kept. Lists leave out the output, and of an error all but its name and message. */
  readonly lastResult: { readonly state: State; readonly output: Output | undefined; readonly error: RunError | undefined } | undefined
  /** The number of jobs created so far. */
  readonly runs: number
  /** The number of ticks that were skipped because of `overlap: 'skip'`. */
  readonly skipped: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** One page of schedules, in the order of their ids. */
export interface SchedulePage {
  readonly schedules: readonly Schedule[]
  /** Pass as `after` for the next page; undefined at the end. */
  readonly next: string | undefined
}

/** Creates, changes and reads schedules: `engine.schedules`. */
export class Schedules {
  readonly #calls: Pick<Mailbox, 'call'>
  readonly #setup: Pick<EngineSetup, 'maxDataBytes'>
  readonly #handle: (job: Enqueued) => JobHandle

  /** @internal Created by the engine. */
  constructor(calls: Pick<Mailbox, 'call'>, setup: Pick<EngineSetup, 'maxDataBytes'>, handle: (job: Enqueued) => JobHandle) {
    this.#calls = calls
    this.#setup = setup
    this.#handle = handle
  }

  /**
   * Creates the schedule, or changes it. If its ticks stay the same, it keeps its next tick: you can call this at each
   * start.
   *
   * @example
   * ```ts
   * await engine.schedules.upsert('nightly', { cron: '0 3 * * *', timezone: 'Europe/Berlin' }, { job: report })
   * ```
   * @throws OptionTypeError, OptionRangeError, ValidationError
   */
  upsert<Job extends JobOrName>(id: string, options: ScheduleOptions, job: ScheduledJob<Job>): Promise<ScheduleSet> {
    return this.#set(id, options, job as ScheduledJob, false)
  }

  /**
   * Creates the schedule. If the id exists, the call is refused and that schedule stays as it is.
   *
   * @throws OptionTypeError, OptionRangeError, ValidationError, ScheduleExistsError
   */
  add<Job extends JobOrName>(id: string, options: ScheduleOptions, job: ScheduledJob<Job>): Promise<ScheduleSet> {
    return this.#set(id, options, job as ScheduledJob, true)
  }

  /**
   * Changes single fields of a schedule; the others stay as they are, even if another call changes them at the same time.
   *
   * @throws OptionTypeError, OptionRangeError, ValidationError, ScheduleNotFoundError; ScheduleChangedError if other
   * calls keep changing it
   */
  async update<Job extends JobOrName = JobOrName>(id: string, changes: ScheduleChanges<Job>): Promise<ScheduleSet> {
    checkScheduleChanges(changes)
    for (let tries = 1; ; tries++) {
      const view = await this.#calls.call<'getSchedule'>({ op: 'getSchedule', id: scheduleIdOption(id), times: 0 })
      if (view === null) throw new ScheduleNotFoundError(`there is no schedule '${id}'`, { scheduleId: id })
      const { updatedAt } = view
      const { spec, paused, updateWaiting } = changedSchedule(view.spec, changes, systemCalendar)
      const job = await changedJob(view.job, changes as ScheduleChanges, this.#setup.maxDataBytes)
      try {
        const settings = { ...(paused !== undefined && { paused }), ...(updateWaiting && { updateWaiting }) }
        return await this.#put({ id, spec, job, runImmediately: false, ...settings, updatedAt })
      } catch (error) {
        if (!isErrorOf(error, 'ScheduleChangedError') || tries === UPDATE_TRIES) throw error
      }
    }
  }

  async #set(id: string, options: ScheduleOptions, job: ScheduledJob, absent: boolean): Promise<ScheduleSet> {
    const { spec, runImmediately, paused, updateWaiting } = validateScheduleOptions(options, systemCalendar)
    const { job: definition, data, options: jobOptions } = itemOf(job, 'job')
    const wanted = await newJobOf(definition, data, jobOptions, this.#setup.maxDataBytes)
    const settings = { ...(paused !== undefined && { paused }), ...(absent && { absent }), ...(updateWaiting && { updateWaiting }) }
    return this.#put({ id, spec, job: wanted, runImmediately, ...settings })
  }

  async #put({ id, job, ...settings }: Omit<UpsertScheduleCommand, 'op'>): Promise<ScheduleSet> {
    const command = { op: 'upsertSchedule', id: scheduleIdOption(id), job: checkScheduledJob(job), ...settings } as const
    const { created, fireAt, waitingUpdated } = await this.#calls.call<'upsertSchedule'>(command)
    return { id, created, nextRunAt: dateOf(fireAt), waitingUpdated }
  }

  /**
   * Returns the schedule, or undefined if there is none with that id. `get<typeof report>(id)` gives the types of its
   * job's data and output.
   */
  async get<Type extends JobType = JobType>(
    id: string,
    options?: ScheduleGetOptions,
  ): Promise<Schedule<Stored<InputOf<Type>>, OutputOf<Type>> | undefined>
  async get(id: string, options?: ScheduleGetOptions): Promise<Schedule | undefined> {
    const times = validateScheduleGetOptions(options)
    const view = await this.#calls.call<'getSchedule'>({ op: 'getSchedule', id: scheduleIdOption(id), times })
    return view === null ? undefined : scheduleOf(view)
  }

  /**
   * Returns a page of schedules, in the order of their ids. With `queue` or `name`, a page may be short or empty and still have
   * a `next`.
   *
   * @throws OptionTypeError, OptionRangeError
   */
  async list(options?: ScheduleListOptions): Promise<SchedulePage> {
    const page = validateScheduleListOptions(options)
    const { schedules, next } = await this.#calls.call<'listSchedules'>({ op: 'listSchedules', ...page })
    return { schedules: schedules.map(scheduleOf), next: next ?? undefined }
  }

  /** Removes the schedule, and its last job if that has not started. Throws ScheduleNotFoundError, as do all calls below. */
  async delete(id: string): Promise<void>
  async delete(id: string, ...given: unknown[]): Promise<void> {
    checkNone('schedules.delete', given, 'schedules.get(id) shows the schedule')
    await this.#calls.call<'deleteSchedule'>({ op: 'deleteSchedule', id: scheduleIdOption(id) })
  }

  /** Pauses the schedule: no tick fires until it is resumed. */
  async pause(id: string): Promise<void>
  async pause(id: string, ...given: unknown[]): Promise<void> {
    checkNone('schedules.pause', given, 'schedules.update(id, { startAt }) fires no tick before a time')
    await this.#calls.call<'pauseSchedule'>({ op: 'pauseSchedule', id: scheduleIdOption(id) })
  }

  /** Resumes with the first tick from now. Ticks that passed meanwhile are not caught up. */
  async resume(id: string): Promise<void>
  async resume(id: string, ...given: unknown[]): Promise<void> {
    checkNone('schedules.resume', given, 'schedules.update(id, { startAt }) fires no tick before a time')
    await this.#calls.call<'resumeSchedule'>({ op: 'resumeSchedule', id: scheduleIdOption(id) })
  }

  /**
   * Creates its job now, in addition to its ticks. If the last job is not final, returns that job (`created` is false),
   * cancels it first (`overlap: 'cancel'`), or creates another (`'allow'`). `trigger<typeof report>(id)` gives the type of its output.
   *
   * @throws OptionTypeError, OptionRangeError; InvalidScheduleError if the `meta` of both is too large
   */
  async trigger<Type extends JobType = JobType>(id: string, options?: TriggerOptions): Promise<JobHandle<OutputOf<Type>>>
  async trigger(id: string, options?: TriggerOptions): Promise<JobHandle> {
    const trigger = validateTriggerOptions(options)
    const [job] = await this.#calls.call<'triggerSchedule'>({ op: 'triggerSchedule', id: scheduleIdOption(id), ...trigger })
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
