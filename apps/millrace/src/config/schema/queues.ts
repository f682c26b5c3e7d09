/** Settings of queues and schedules, as `queues.configure` and `schedules.upsert` take them. The engine's own checks apply. */
import { systemCalendar } from '@millrace/client/calendar'
import {
  booleanOption,
  type Duration,
  durationOption,
  type EnqueueOptions,
  type KeepOptions,
  nameOption,
  type OptionKind,
  type OptionRow,
  type OptionTypeError,
  type QueueOptions,
  type RateLimitOptions,
  RUN_OPTION_NAMES,
  RUN_OPTIONS,
  type SharedLimit,
  timeOption,
  validateQueueOptions,
  validateScheduleOptions,
  withCommas,
} from '@millrace/core'
import { z } from 'zod'
import { checked, read, section, setting, text } from './setting.ts'

const ofQueue = <Value>(name: string) => checked<Value>((value) => validateQueueOptions({ [name]: value }))
const ofKeep = (state: string) => checked<KeepOptions>((value) => validateQueueOptions({ retention: { [state]: value } }))
const ofDefaults = <Value>(name: string) => checked<Value>((value) => validateQueueOptions({ defaults: { [name]: value } }))

/** JSON and the environment have no word for it. */
export const endless = (option: string, min: number) =>
  read<number, Duration>((value) =>
    durationOption(option, value === 'Infinity' ? Number.POSITIVE_INFINITY : value, { min, infinity: true }),
  )

/** The settings of `[defaults]` and of each queue: core's table of job options, without the queue itself. */
export const jobDefaults = section(
  Object.fromEntries(
    RUN_OPTION_NAMES.filter((name) => name !== 'queue').map((name) => {
      const { kind, says, preset }: OptionRow = RUN_OPTIONS[name]
      const check = kind.type === 'duration' && kind.endless !== undefined ? endless(name, kind.min) : ofDefaults<unknown>(name)
      return [name, setting<z.ZodType>(check, `${says}${boundsOf(kind)}.${preset === undefined ? '' : ` Default ${preset}.`}`)]
    }),
  ),
)

function boundsOf(kind: OptionKind): string {
  if (kind.type === 'integer') return `: ${withCommas(kind.min)} to ${withCommas(kind.max)}`
  if (kind.type === 'backoff') return ': `{ type, delay, factor, maxDelay, jitter }`, type exponential, linear or fixed'
  if (kind.type !== 'duration') return ''
  if (kind.forever === true) return ": a duration, or 'forever'"
  return kind.endless === undefined ? '' : ': a duration, or Infinity'
}

const settings = section({
  concurrencyLimit: setting(ofQueue<number>('concurrencyLimit'), 'The most jobs of the queue that run at the same time: 1 to 1,000,000.'),
  sharedLimit: setting(
    ofQueue<SharedLimit>('sharedLimit'),
    '`{ name, limit }`: a job starts only while fewer than `limit` jobs run in all queues that name the same limit.',
  ),
  perKeyLimit: setting(ofQueue<number>('perKeyLimit'), 'The same for each concurrency key.'),
  rateLimit: setting(
    ofQueue<RateLimitOptions>('rateLimit'),
    'How many jobs may start: `{ limit, period, burst }`. The default period is 1 s, and the default burst is the limit.',
  ),
  perKeyRateLimit: setting(ofQueue<RateLimitOptions>('perKeyRateLimit'), 'The same for each concurrency key.'),
  keyTiers: setting(
    ofQueue<NonNullable<QueueOptions['keyTiers']>>('keyTiers'),
    'Other limits for some keys: `{ gold: { perKeyLimit, perKeyRateLimit } }` replaces those of the queue for keys that begin with `gold:`.',
  ),
  keyOrder: setting(
    ofQueue<'turns' | 'strict'>('keyOrder'),
    '`turns` or `strict`. With `strict`, jobs of a concurrency key run one at a time, in the order of their enqueue, retries included.',
  ),
  maxLength: setting(
    ofQueue<number>('maxLength'),
    'The most jobs that have yet to start: 1 to 1,000,000,000. At this length new jobs are refused.',
  ),
  onFull: setting(
    ofQueue<'reject' | 'drop-oldest'>('onFull'),
    'At `maxLength`, `reject` refuses a new job; `drop-oldest` accepts it and cancels the oldest job that is scheduled or waiting.',
  ),
  share: setting(ofQueue<number>('share'), 'How many jobs start before it is the next queue’s turn: 1 to 1,000.'),
  fairness: setting(
    ofQueue<'name' | 'none'>('fairness'),
    '`name`: job names of equal priority take turns; `none`: all jobs form one line.',
  ),
  deadLetter: setting(ofQueue<string>('deadLetter'), 'The queue that gets a new job for each job that fails permanently.'),
  repeats: setting(
    ofQueue<'silent' | 'event'>('repeats'),
    '`event`: each call that an earlier job answers emits `deduplicated`; `silent`: only the caller learns of it.',
  ),
  retention: section({
    completed: setting(
      ofKeep('completed'),
      'How long completed jobs of the queue are kept: a duration, `{ age, count }`, or `forever`. Default: `retention` of the engine.',
    ),
    failed: setting(ofKeep('failed'), 'The same for failed jobs.'),
    cancelled: setting(ofKeep('cancelled'), 'The same for cancelled jobs.'),
  }),
  defaults: jobDefaults,
  paused: setting(
    read<boolean, boolean>((value) => booleanOption('paused', value)),
    'True pauses the queue at each start, false resumes it.',
  ),
})

export const queue = settings.superRefine(({ paused: _paused, retention: _retention, defaults: _defaults, ...limits }, context) =>
  together(context, limits, validateQueueOptions),
)

/** A Date, milliseconds, or ISO 8601 with its zone. */
const time = (option: string) => read<Date, Date | number | string>((value) => new Date(timeOption(option, value)))

const plain = <Value>() => checked<Value>(() => {})

export const schedule = z
  .strictObject({
    cron: setting(
      plain<string>(),
      'A cron expression: 5 fields, 6 with seconds, 7 with seconds and the year, or `@daily` ... Not with `every`.',
    ),
    every: setting(plain<Duration>(), 'Time between two ticks: at least 1 s. Not with `cron`.'),
    timezone: setting(plain<string>(), 'IANA name of the time zone of `cron`. Default UTC.'),
    startAt: setting(time('startAt'), 'No tick comes before this time: ISO 8601 with its zone.'),
    endAt: setting(time('endAt'), 'No tick comes after this time: ISO 8601 with its zone.'),
    jitter: setting(plain<Duration>(), 'Each tick fires up to this much later: at most 24 h.'),
    overlap: setting(
      plain<'skip' | 'queue' | 'cancel' | 'allow'>(),
      'If the last job has not ended: `skip`, `queue`, `cancel` or `allow`.',
    ),
    catchUp: setting(plain<'latest' | 'all' | 'none'>(), 'Missed ticks to catch up: `latest`, `all` or `none`.'),
    catchUpWithin: setting(plain<Duration>(), 'A tick that is later than this is not caught up. Not with `catchUp` `none`.'),
    maxRuns: setting(plain<number>(), 'The schedule ends after this many jobs.'),
    runImmediately: setting(plain<boolean>(), 'A new schedule creates its first job at once.'),
    paused: setting(plain<boolean>(), 'True pauses the schedule at each start, and a new one from its creation on; false resumes it.'),
    updateWaiting: setting(
      plain<boolean>(),
      'If true, each start also changes the last job, if it has never run and has the same name: its data, priority, weight, tags and meta.',
    ),
    job: setting(text('job'), 'Name of its jobs. Required.'),
    data: setting(plain<unknown>(), 'Data of its jobs.'),
    queue: setting(
      read<string, string>((value) => nameOption('queue', value)),
      'Queue of its jobs.',
    ),
    options: setting(plain<EnqueueOptions>(), 'Other options of its jobs, as for an enqueue: priority, maxAttempts, tags ...'),
  })
  .superRefine(({ job, data: _data, queue: _queue, options: _options, ...times }, context) => {
    if (job === undefined) context.addIssue({ code: 'custom', message: 'a schedule names its job', path: ['job'] })
    together(context, times, (given) => validateScheduleOptions(given, systemCalendar))
  })

/** Reports what a check of the engine finds wrong with settings that are given together, at the setting that it names. */
function together(context: z.RefinementCtx, settings: object, check: (given: unknown) => unknown): void {
  try {
    check(Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)))
  } catch (error) {
    const { option, message } = error as OptionTypeError
    context.addIssue({ code: 'custom', message, ...(option in settings && { path: [option] }) })
  }
}

/** Sections by a name that the user gives. */
export function named<Schema extends z.ZodType>(value: Schema): z.ZodPrefault<z.ZodRecord<z.ZodType<string, string>, Schema>> {
  return z
    .record(
      read<string, string>((key) => nameOption('its name', key)),
      value,
    )
    .prefault({} as never)
}
