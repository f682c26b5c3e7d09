/** The options of `schedules`: when a schedule fires, and the job that comes. */
import type { NewJob } from '../commands.ts'
import type { Duration } from '../duration.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { CATCH_UPS, type Calendar, type CatchUp, DEFAULT_TIMEZONE, OVERLAPS, type Overlap, type ScheduleSpec } from '../schedule.ts'
import type { ListSchedulesCommand } from '../scheduleCommands.ts'
import { encodeMeta } from './data.ts'
import { describe } from './describe.ts'
import { checksOf, integer, type Row } from './kind.ts'
import { checkKnown } from './known.ts'
import type { Time } from './milliseconds.ts'
import { nameOption, prefixOption } from './name.ts'
import { type Check, integerBetween, optionsReader } from './read.ts'

/** The times of a schedule. Exactly one of `cron` and `every` is required. */
export interface ScheduleOptions {
  /**
   * 5 fields (minute hour day month weekday), 6 with seconds in front, 7 with seconds in front and the year at the end, or `@hourly`,
   * `@daily` ... Default none: give this or `every`.
   */
  readonly cron?: string
  /**
   * The time between two ticks: at least 1 s, counted from `startAt` or from the schedule's creation. Default none: give this or
   * `cron`.
   */
  readonly every?: Duration
  /** IANA name of the zone whose clocks `cron` goes by; default `'UTC'`. */
  readonly timezone?: string
  /** No tick before then; `every` counts from it. A Date, or milliseconds since 1970. Default: the creation of the schedule. */
  readonly startAt?: Time
  /** No tick after then. A Date, or milliseconds since 1970. Default: no end. */
  readonly endAt?: Time
  /** Each tick fires up to this much later, the same tick always by the same delay: up to 24 h, less than `every`; default 0. */
  readonly jitter?: Duration
  /**
   * A tick whose predecessor's job is not final yet is lost (`'skip'`, default), waits for its end (`'queue'`, default where `catchUp`
   * is `'all'`), cancels it (`'cancel'`), or creates its job beside it (`'allow'`).
   */
  readonly overlap?: Overlap
  /** Catches up on ticks that could not fire in time: one job for the latest (default), one for each (up to 1,000), or none after a minute. */
  readonly catchUp?: CatchUp
  /** The longest that a tick may be late: it is lost afterwards. At least 1 ms; default no bound. Not with `catchUp: 'none'`, which has a minute. */
  readonly catchUpWithin?: Duration
  /** The schedule ends after this many jobs, those by hand included: 1 to 1,000,000,000. Default: no end. */
  readonly maxRuns?: number
  /** A schedule that is new has its first job at once; default false. */
  readonly runImmediately?: boolean
  /** True: no tick fires until `resume`; false: ticks fire. Default: as it is, and a new schedule is not paused. Not with `runImmediately`. */
  readonly paused?: boolean
  /**
   * True: the schedule's last job takes the data, priority, weight, tags and meta of this call, if it has never run and has the same
   * name. Its time and its queue stay. Default false: it keeps what it was created with.
   */
  readonly updateWaiting?: boolean
}

/** Single fields of a schedule's times: what is left out stays as it is, and null removes a bound. `cron` takes the place of `every`, and `every` that of `cron`. */
export interface ScheduleTimes extends Omit<Partial<ScheduleOptions>, Bound | 'runImmediately'> {
  readonly startAt?: Date | number | null
  readonly endAt?: Date | number | null
  readonly catchUpWithin?: Duration | null
  readonly maxRuns?: number | null
}

export interface ScheduleSettings {
  readonly spec: ScheduleSpec
  readonly runImmediately: boolean
  readonly paused: boolean | undefined
  readonly updateWaiting: boolean
}

/**
 * The table of the options of a schedule. An option is a row here, a property with its documentation above, a field of ScheduleSpec, and what
 * the engine does with it; all else derives from the row. A row names other options in backticks.
 */
export const SCHEDULE_OPTIONS = {
  cron: {
    kind: { type: 'cron' },
    says: 'Cron expression: 5 fields, 6 with seconds in front, 7 with seconds and the year, or `@daily` ...; not with `every`',
  },
  every: { kind: { type: 'duration', min: LIMITS.everyMs }, says: 'Time between two ticks, at least 1 s; not with `cron`' },
  timezone: { kind: { type: 'zone' }, says: 'Time zone of `cron`, by its IANA name', preset: DEFAULT_TIMEZONE },
  startAt: { kind: { type: 'time' }, says: 'No tick comes before this time', removable: true },
  endAt: { kind: { type: 'time' }, says: 'No tick comes after this time', removable: true },
  jitter: {
    kind: { type: 'duration', min: 0, max: LIMITS.jitterMs },
    says: 'Each tick fires up to this much later, at most 24 h',
    preset: '0',
  },
  overlap: {
    kind: { type: 'choice', words: OVERLAPS },
    says: 'If the last job has not ended: skip loses the tick, queue delays it, cancel cancels that job, allow creates a job beside it',
    preset: 'skip',
  },
  catchUp: {
    kind: { type: 'choice', words: CATCH_UPS },
    says: 'Missed ticks: latest creates a job for the latest, all one for each (`overlap` is then queue by default), none only for one of the last minute',
    preset: 'latest',
  },
  catchUpWithin: {
    kind: { type: 'duration', min: 1 },
    says: 'A tick that is later than this is not caught up; not with `catchUp` none',
    removable: true,
  },
  maxRuns: { kind: integer(1, LIMITS.runsPerSchedule), says: 'The schedule ends after this many jobs', removable: true },
  runImmediately: { kind: { type: 'boolean' }, says: 'Creates the first job of a new schedule at once' },
  paused: { kind: { type: 'boolean' }, says: 'Pauses the schedule until it is resumed' },
  updateWaiting: {
    kind: { type: 'boolean' },
    says: 'Also changes the last job, if it has never run and has the same name: its data, priority, weight, tags and meta',
  },
} as const satisfies Record<keyof ScheduleOptions, ScheduleRow>

/** An option of a schedule. */
export interface ScheduleRow extends Row {
  /** True if null removes it from a schedule that is changed. */
  readonly removable?: true
}

type Rows = typeof SCHEDULE_OPTIONS
type Bound = { [Name in keyof Rows]: Rows[Name] extends { readonly removable: true } ? Name : never }[keyof Rows]

const { runImmediately: _once, ...CHANGEABLE } = SCHEDULE_OPTIONS
const TIMES = Object.keys(CHANGEABLE) as (keyof typeof CHANGEABLE)[]
const BOUNDS: ReadonlySet<string> = new Set(TIMES.filter((name) => 'removable' in SCHEDULE_OPTIONS[name]))

const readOptions = optionsReader('schedules.upsert', checksOf(SCHEDULE_OPTIONS))

/** @throws OptionTypeError, OptionRangeError */
export function validateScheduleOptions(options: unknown, calendar: Calendar): ScheduleSettings {
  const { runImmediately = false, paused, updateWaiting = false, timezone, ...times } = readOptions(options)
  if (runImmediately && paused === true)
    throw new OptionTypeError('paused', 'runImmediately and paused exclude each other: give one of them')
  if (times.cron === undefined && timezone !== undefined)
    throw new OptionTypeError('timezone', 'timezone requires cron: every is the same in all zones')
  const { catchUp = 'latest', jitter = 0 } = times
  const { overlap = catchUp === 'all' ? 'queue' : 'skip' } = times
  const spec = { ...times, ...(times.cron !== undefined && { timezone: timezone ?? DEFAULT_TIMEZONE }), jitter, overlap, catchUp }
  checkScheduleSpec(spec, calendar)
  return { spec, runImmediately, paused, updateWaiting }
}

const CHANGES_KNOWN = new Set([...TIMES, 'job', 'data', 'options'])

/**
 * A schedule's times with some of them changed; the job's part of the changes is the caller's.
 *
 * @throws OptionTypeError, OptionRangeError
 */
export function changedSchedule(
  before: ScheduleSpec,
  changes: Readonly<Record<string, unknown>>,
  calendar: Calendar,
): Pick<ScheduleSettings, 'spec' | 'paused' | 'updateWaiting'> {
  const told = Object.fromEntries(TIMES.filter((name) => changes[name] !== undefined).map((name) => [name, changes[name]]))
  const { cron, timezone, every, ...others } = before
  const kept = { ...others, ...(told['every'] === undefined && { cron, timezone }), ...(told['cron'] === undefined && { every }) }
  const merged = Object.entries({ ...kept, ...told })
  return validateScheduleOptions(
    Object.fromEntries(merged.filter(([name, value]) => value !== undefined && !(BOUNDS.has(name) && value === null))),
    calendar,
  )
}

/** @throws OptionTypeError */
export function checkScheduleChanges(changes: unknown): asserts changes is Readonly<Record<string, unknown>> {
  checkKnown('schedules.update', changes, CHANGES_KNOWN)
}

/**
 * Checks a schedule as a whole. The engine does so too: other libraries may have sent it unchecked.
 *
 * @throws OptionTypeError, OptionRangeError
 */
export function checkScheduleSpec(spec: ScheduleSpec, calendar: Calendar): void {
  const { cron, timezone = DEFAULT_TIMEZONE, every, startAt, endAt, jitter, overlap, catchUp, catchUpWithin } = spec
  if (cron !== undefined && every !== undefined) throw new OptionTypeError('every', 'cron and every exclude each other: give one of them')
  if (cron === undefined && every === undefined) throw new OptionTypeError('cron', 'a schedule needs cron or every: give one of them')
  if (startAt !== undefined && endAt !== undefined && endAt < startAt)
    throw new OptionRangeError('endAt', startAt, `endAt must not be before startAt, got one that is ${startAt - endAt} ms before it`)
  if (every !== undefined && jitter >= every)
    throw new OptionRangeError('jitter', every - 1, `jitter must be less than every, which is ${every} ms, got ${jitter} ms`)
  if (catchUp === 'all' && (overlap === 'skip' || overlap === 'cancel')) {
    const message = `catchUp 'all' requires overlap 'queue' or 'allow': with '${overlap}' most of the missed ticks would be skipped or cancelled`
    throw new OptionTypeError('overlap', message)
  }
  if (catchUp === 'none' && catchUpWithin !== undefined)
    throw new OptionTypeError(
      'catchUpWithin',
      "catchUpWithin requires catchUp 'latest' or 'all': with 'none' a tick is lost after a minute",
    )
  if (cron !== undefined) checkCron(cron, timezone, calendar)
}

function checkCron(cron: string, timezone: string, calendar: Calendar): void {
  let first: number
  try {
    first = calendar.next(cron, timezone, 0)
  } catch (error) {
    if (!isZone(timezone))
      throw new OptionTypeError(
        'timezone',
        `timezone must be the IANA name of a zone, as 'Europe/Berlin' or 'UTC', got ${describe(timezone)}`,
      )
    throw new OptionTypeError('cron', `cron ${describe(cron)} cannot be read: ${(error as Error).message}`)
  }
  if (first === 0) throw new OptionRangeError('cron', 0, `cron ${describe(cron)} never matches: there is no such day`)
}

/** Returns true if the runtime's time zone database has the zone. */
function isZone(name: string): boolean {
  try {
    Intl.DateTimeFormat('en-US', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** 1 to 128 of `A-Z a-z 0-9 _ . : / -`. */
export function scheduleIdOption(value: unknown): string {
  return nameOption('id', value)
}

/** The length of `meta` as JSON, less the room for the tick. */
const META_MAX = LIMITS.metaBytes - 256

/**
 * The job of a schedule: it comes at its tick, once, and `meta.schedule` says which.
 *
 * @throws OptionTypeError, OptionRangeError
 */
export function checkScheduledJob(job: NewJob): NewJob {
  const { delay, runAt, idempotencyKey, unique, tags = [], meta } = job
  if (delay !== undefined) throw new OptionTypeError('delay', 'the job of a schedule takes no delay: it is created at its tick')
  if (runAt !== undefined) throw new OptionTypeError('runAt', 'the job of a schedule takes no runAt: it is created at its tick')
  if (idempotencyKey !== undefined)
    throw new OptionTypeError('idempotencyKey', 'the job of a schedule takes no idempotencyKey: each tick fires once')
  for (const option of ['debounce', 'throttle'] as const)
    if (job[option] !== undefined) throw new OptionTypeError(option, `the job of a schedule takes no ${option}: each tick fires once`)
  if (unique !== undefined) throw new OptionTypeError('unique', 'the job of a schedule takes no unique key: overlap decides what happens')
  if (tags.length >= LIMITS.tagsPerJob) {
    const most = LIMITS.tagsPerJob - 1
    throw new OptionRangeError('tags', most, `the job of a schedule must have at most ${most} tags of its own, got ${tags.length}`)
  }
  if (meta === undefined) return job
  if (meta.length > META_MAX)
    throw new OptionRangeError(
      'meta',
      META_MAX,
      `the meta of a schedule’s job must have at most ${META_MAX} characters, got ${meta.length}`,
    )
  if (!meta.startsWith('{') || !meta.endsWith('}')) throw new OptionTypeError('meta', 'the meta of a schedule’s job must be an object')
  return job
}

/** The options of `schedules.trigger`. */
export interface TriggerOptions {
  /** An object, put over the `meta` of the schedule's job: together at most 16,128 characters of JSON. Default none. */
  readonly meta?: Readonly<Record<string, unknown>>
}

const TRIGGER_KNOWN = new Set(['meta'])

/** @throws OptionTypeError, OptionRangeError */
export function validateTriggerOptions(options: unknown = {}): { readonly meta?: string } {
  checkKnown('schedules.trigger', options, TRIGGER_KNOWN)
  const { meta } = options
  if (meta === undefined) return {}
  const text = encodeMeta(meta)
  if (!text.startsWith('{')) throw new OptionTypeError('meta', `meta must be an object, got ${describe(meta)}`)
  return { meta: text }
}

/** The options of `schedules.list`. */
export interface ScheduleListOptions {
  /** Prefix of the ids; default all. */
  readonly prefix?: string
  /** Only schedules whose jobs go to this queue. Default: all queues. */
  readonly queue?: string
  /** Only schedules whose jobs have this name. Default: all names. */
  readonly name?: string
  /** `next` of the page before. Default: the first page. */
  readonly after?: string
  /** Schedules in the page: 1 to 200, default 50. */
  readonly limit?: number
}

const idPrefix: Check<string> = (option, value) => (value === '' ? '' : prefixOption(option, value))
const readList = optionsReader('schedules.list', {
  prefix: idPrefix,
  queue: nameOption,
  name: nameOption,
  after: nameOption,
  limit: integerBetween(1, LIMITS.pageSchedules),
})
const PAGE_SCHEDULES = 50

/** @throws OptionTypeError, OptionRangeError */
export function validateScheduleListOptions(options: unknown = {}): Omit<ListSchedulesCommand, 'op'> {
  return { prefix: '', limit: PAGE_SCHEDULES, ...readList(options) }
}

/** The options of `schedules.get`. */
export interface ScheduleGetOptions {
  /** The number of next times to return: 0 to 1,000, default 1. */
  readonly times?: number
}

const readGet = optionsReader('schedules.get', { times: integerBetween(0, LIMITS.timesPerSchedule) })

/** @throws OptionTypeError, OptionRangeError */
export function validateScheduleGetOptions(options: unknown = {}): number {
  return readGet(options).times ?? 1
}
