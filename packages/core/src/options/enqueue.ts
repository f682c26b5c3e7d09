/** The options of one enqueue, and the job as it is asked for. */
import type { Defaults, NewJob, OnConflict } from '../commands.ts'
import type { Duration } from '../duration.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import type { Data } from '../job.ts'
import { LIMITS } from '../limits.ts'
import { choiceOption } from './choice.ts'
import { encodeMeta } from './data.ts'
import { JOB_TEXT_NAMES, type JobTexts, readJobTexts } from './jobTexts.ts'
import { checkKnown } from './known.ts'
import { durationOption, type Time, timeOption } from './milliseconds.ts'
import { RUN_OPTION_NAMES, type RunOptions, readRunOptions } from './runOptions.ts'
import { type DebounceOptions, readShaping, type ThrottleOptions } from './shaping.ts'
import { tagsOption, textOption } from './text.ts'
import { type UniqueBy, uniqueKeyBy } from './uniqueBy.ts'

/** A key that at most one live job of a name has. Exactly one of `key` and `by` is required. */
export interface UniqueOptions {
  /** The key, which at most one live job of that name holds, from its enqueue to what `until` says. 1 to 512 characters, default none. */
  readonly key?: string
  /** Makes the key of the job's data: of all of it (`'data'`), or of 1 to 32 fields, which the data must have. Default none. */
  readonly by?: UniqueBy
  /** `skip` (default) answers the live job; `replace` and `reschedule` change it; `error` rejects UniqueConflictError. */
  readonly onConflict?: OnConflict
  /** The job holds the key until its final state (`'end'`, default), or until its first start (`'start'`): a call after that creates another job. */
  readonly until?: UniqueUntil
}

export type UniqueUntil = (typeof UNIQUE_UNTILS)[number]

export const UNIQUE_UNTILS = ['end', 'start'] as const

/** The options of one `enqueue`. They take precedence over the definition and the queue. */
export interface EnqueueOptions extends RunOptions, JobTexts {
  /** The job does not start earlier than this from now, by the engine's clock: 0 to 100 years, default 0. Not with `runAt`. */
  readonly delay?: Duration
  /**
   * The job does not start before then: a Date, milliseconds since 1970, or an ISO 8601 string with its zone
   * (`'2030-01-31T12:00:00Z'`). Default: at once.
   */
  readonly runAt?: Time
  /** Create once: a repeat answers the first job, with any data. 1 to 512 characters, default none. */
  readonly idempotencyKey?: string
  /** A repeat is recognised for at least this long, and until the job has ended; at least 1 ms, default 24 h. */
  readonly idempotencyTtl?: Duration
  /** At most one live job of that name has the key. Default none. */
  readonly unique?: UniqueOptions
  /** Many calls in quick succession become one job. Default none. Not with `throttle`, `idempotencyKey`, `unique`, `delay` or `runAt`. */
  readonly debounce?: DebounceOptions
  /** One job per period at most. Default none. Not with `debounce`, `idempotencyKey` or `unique`. */
  readonly throttle?: ThrottleOptions
  /** Words to find the job by: at most 32, default none. */
  readonly tags?: readonly string[]
  /** Small facts for people and filters; JSON of at most 16 KiB, default none. */
  readonly meta?: unknown
}

type Draft = { -readonly [Key in keyof NewJob]: NewJob[Key] }

const KNOWN = new Set<string>([
  ...RUN_OPTION_NAMES,
  ...JOB_TEXT_NAMES,
  'delay',
  'runAt',
  'idempotencyKey',
  'idempotencyTtl',
  'unique',
  'debounce',
  'throttle',
  'tags',
  'meta',
])

/**
 * The job that a call asks for. `name` has been checked; what the call does not set comes from `defaults`.
 *
 * @throws OptionTypeError, OptionRangeError
 */
export function newJobFrom(name: string, data: Data, options: EnqueueOptions | undefined, defaults: Defaults | undefined): NewJob {
  if (options === undefined) return defaults === undefined ? { name, data } : { name, data, ...defaults }
  checkKnown('enqueue', options, KNOWN)
  const job: Draft = { name, data, ...defaults }
  readRunOptions(options, job)
  readJobTexts(options, job)
  readTimes(options, job)
  readKeys(options, job)
  if (options['tags'] !== undefined) job.tags = tagsOption('tags', options['tags'])
  if (options['meta'] !== undefined) job.meta = encodeMeta(options['meta'])
  return job
}

function readTimes({ delay, runAt }: Readonly<Record<string, unknown>>, job: Draft): void {
  if (delay !== undefined && runAt !== undefined) throw new OptionTypeError('runAt', 'delay and runAt exclude each other: give one of them')
  if (delay !== undefined) job.delay = durationOption('delay', delay)
  if (runAt !== undefined) job.runAt = timeOption('runAt', runAt)
}

const UNIQUE_KNOWN = new Set(['key', 'by', 'onConflict', 'until'])
export const ON_CONFLICT = ['skip', 'replace', 'reschedule', 'error'] as const

/** Reads the options that make a call repeatable. */
export function readIdempotency({ idempotencyKey, idempotencyTtl }: Readonly<Record<string, unknown>>): {
  readonly idempotencyKey?: string
  readonly idempotencyTtl?: number
} {
  if (idempotencyTtl !== undefined && idempotencyKey === undefined)
    throw new OptionTypeError('idempotencyTtl', 'idempotencyTtl needs an idempotencyKey beside it')
  return {
    ...(idempotencyKey !== undefined && { idempotencyKey: textOption('idempotencyKey', idempotencyKey) }),
    ...(idempotencyTtl !== undefined && { idempotencyTtl: durationOption('idempotencyTtl', idempotencyTtl, { min: 1 }) }),
  }
}

function readKeys(options: Readonly<Record<string, unknown>>, job: Draft): void {
  const { idempotencyKey, idempotencyTtl, unique, debounce, throttle } = options
  if (debounce !== undefined || throttle !== undefined) Object.assign(job, readShaping(options))
  if (idempotencyKey !== undefined || idempotencyTtl !== undefined) Object.assign(job, readIdempotency(options))
  if (unique !== undefined) job.unique = uniqueOption(unique, job.data)
}

function uniqueOption(unique: unknown, data: Data): NonNullable<NewJob['unique']> {
  checkKnown('unique', unique, UNIQUE_KNOWN)
  const { key, by, onConflict = 'skip', until = 'end' } = unique
  if (key !== undefined && by !== undefined)
    throw new OptionTypeError('unique.by', 'unique.key and unique.by exclude each other: give one of them')
  if (key === undefined && by === undefined)
    throw new OptionTypeError('unique.key', "unique must have a key, or by: 'data' or ['customer'] to make one of the data")
  return {
    key: by === undefined ? textOption('unique.key', key) : uniqueKeyBy(data, by),
    onConflict: choiceOption('unique.onConflict', onConflict, ON_CONFLICT),
    ...(choiceOption('unique.until', until, UNIQUE_UNTILS) === 'start' && { until: 'start' }),
  }
}

/** The bytes that one job adds to a command beside its data, roughly. */
const JOB_BYTES = 128

/** Roughly the bytes of one job in a command. */
export function weighJobs(jobs: readonly NewJob[]): number {
  let bytes = 0
  for (const job of jobs) bytes += weighJob(job)
  return bytes
}

export function weighJob({ data, meta }: NewJob): number {
  return JOB_BYTES + (data === null ? 0 : data.length) + (meta === undefined ? 0 : meta.length)
}

/** The calls that create many jobs at once: the option that has them, and how to create more. */
const CREATING = {
  enqueueMany: { option: 'jobs', remedy: 'give an async iterable to enqueueMany, which is atomic per chunk of 1,000' },
  flow: { option: 'nodes', remedy: 'create several flows, or let a job of the flow join the others' },
  batch: { option: 'jobs', remedy: 'create several batches, or let jobs of the batch join the others' },
  join: { option: 'join', remedy: 'let some of the joined jobs join the others' },
} as const

/** Refuses more than one atomic command may hold: 10,000 jobs and 16 MiB. */
export function checkCommandSize(call: keyof typeof CREATING, jobs: number, bytes: number): void {
  const { option, remedy } = CREATING[call]
  const check = (most: number, unit: string, given: number) => {
    if (given > most) throw new OptionRangeError(option, most, `one atomic call takes at most ${most} ${unit}, not ${given}: ${remedy}`)
  }
  check(LIMITS.jobsPerCommand, 'jobs', jobs)
  check(LIMITS.bytesPerCommand, 'bytes', bytes)
}
