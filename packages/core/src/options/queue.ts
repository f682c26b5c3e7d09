/** The options of `queues.configure` and `queues.pause`. */
import type { Duration } from '../duration.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { PAUSE_PARTS, type PausePart } from '../pausePart.ts'
import { largestPerKey, type QueueChanges, type QueueDefaults } from '../queueSettings.ts'
import { DEFAULT_RETENTION } from '../retention.ts'
import { choiceOption } from './choice.ts'
import { checkOf, choice, integer, NAME, type Row, record, settingChecksOf } from './kind.ts'
import { durationOption } from './milliseconds.ts'
import { nameOption } from './name.ts'
import { type Check, optionsReader } from './read.ts'
import type { KeepOptions } from './retention.ts'
import { RUN_OPTIONS, type RunOptions } from './runOptions.ts'
import { textOption } from './text.ts'

/** A token bucket: how many jobs may start per period. */
export interface RateLimitOptions {
  /** Starts per `period`: 1 to 1,000,000,000. */
  readonly limit: number
  /** Default one second; 1 ms to 365 days. */
  readonly period?: Duration
  /** Starts at once after a pause: 1 to 1,000,000,000, default `limit`. */
  readonly burst?: number
}

/** The limits of each key of a tier. */
export interface KeyTierOptions {
  /** Its jobs that run at the same time: 1 to 1,000,000. Default: as the queue says. */
  readonly perKeyLimit?: number
  /** Starts of its jobs in a period. Default: as the queue says. */
  readonly perKeyRateLimit?: RateLimitOptions
}

/** Settings of a queue. An option that is left out stays as it is; null removes a setting. */
export interface QueueOptions {
  /** Jobs of the queue that run at the same time, over all workers: 1 to 1,000,000. */
  readonly concurrencyLimit?: number | null
  /**
   * A limit that several queues share by naming it: a job of this queue starts only while fewer than `limit` jobs run in all queues that
   * name it. Each queue has a `limit` of its own: a smaller one leaves places to the others. 1 to 1,000,000.
   */
  readonly sharedLimit?: { readonly name: string; readonly limit: number } | null
  /**
   * The same for each `concurrencyKey` in the queue: 1 to 1,000,000. Keys take turns, in rounds of this many jobs of each key and job name,
   * with any room of the workers: a new key waits for at most this many starts of each other key. For small rounds give a small one, or
   * a small `burst` to `perKeyRateLimit`. Without either, and without `keyOrder` 'strict', keys take no turns: first in, first out.
   */
  readonly perKeyLimit?: number | null
  /**
   * 'strict': jobs of each `concurrencyKey` run one at a time, in the order of their arrival, and one that is to be tried again keeps its
   * key until it is final. 'turns' (default): keys take turns where `perKeyLimit` or `perKeyRateLimit` is set, and are not looked at
   * elsewhere. Changed while the queue has no job that is yet to end.
   */
  readonly keyOrder?: 'strict' | 'turns' | null
  /** Starts of jobs of the queue in a period, over all workers. */
  readonly rateLimit?: RateLimitOptions | null
  /** The same for each `concurrencyKey` in the queue. No more of a key stand in line than have a token: at most `burst` per round. */
  readonly perKeyRateLimit?: RateLimitOptions | null
  /**
   * Limits for tiers of keys: by the name of a tier, at most 100, its `perKeyLimit` and `perKeyRateLimit` in place of the queue's. A key is in
   * the tier that its text names before its first colon: 'gold:acme' is in 'gold'. What a tier leaves out is as the queue says.
   */
  readonly keyTiers?: Readonly<Record<string, KeyTierOptions>> | null
  /** Jobs yet to start, over which enqueues are refused with QueueFullError, or as `onFull` says: 1 to 1,000,000,000. */
  readonly maxLength?: number | null
  /**
   * The fate of a new job if `maxLength` jobs have yet to start. 'reject' (default): it is refused. 'drop-oldest': it is accepted, and
   * the oldest scheduled or waiting job by arrival is cancelled. It is refused if there is none, or if one call has more than
   * `maxLength` jobs.
   */
  readonly onFull?: 'reject' | 'drop-oldest' | null
  /** Hand-outs in a row before it is the next queue's turn: 1 to 1,000; without it 1. */
  readonly share?: number | null
  /**
   * 'name': job names take turns, one hand-out each, among jobs of equal priority, so that few jobs of one name do not wait behind many of
   * another. 'none' (default): jobs of all names are one line, by priority, due time and arrival.
   */
  readonly fairness?: 'name' | 'none' | null
  /**
   * The queue for dead letters: when a job of this queue fails permanently, the same commit adds a job with its name, data and tags to that
   * queue. Its `meta.deadLetter` has the id and the error of the failed job. A dead letter that fails adds none.
   */
  readonly deadLetter?: string | null
  /**
   * 'event': each call for this queue that an earlier job answers, because of its key, its debounce or its throttle, emits `deduplicated`,
   * which costs it a commit. 'silent' (default): only the caller learns of it.
   */
  readonly repeats?: 'silent' | 'event' | null
  /**
   * 'event': the queue emits `queue.empty` with the commit that ends its last live job: none runs, waits, is scheduled, or waits for others.
   * 'silent' (default): it does not.
   */
  readonly empties?: 'silent' | 'event' | null
  /**
   * The dashboard reports the queue as a problem once its oldest waiting job has waited for longer: 1 ms to 100 years. Without it, the queue is
   * a problem after a minute if that is 10 times the usual wait, and after 10 minutes in any case.
   */
  readonly alertAfter?: Duration | null
  /** Retention of the queue's jobs, in place of the engine's. */
  readonly retention?: { readonly completed?: KeepOptions; readonly failed?: KeepOptions; readonly cancelled?: KeepOptions } | null
  /** Options of jobs for which neither the call nor the definition has a value, in place of the `defaults` of `openEngine`. */
  readonly defaults?: Omit<RunOptions, 'queue'> | null
}

const STARTS = integer(1, LIMITS.tokens)
const SLOTS = integer(1, LIMITS.concurrencyLimit)
const RATE = record(
  {
    limit: { kind: STARTS, required: true },
    period: { kind: { type: 'duration', min: 1, max: 365 * 86_400_000 }, otherwise: 1_000 },
    burst: { kind: STARTS, otherwise: 'limit' },
  },
  { notation: 'rate' },
)
const TIER = record(
  { perKeyLimit: { kind: SLOTS }, perKeyRateLimit: { kind: RATE } },
  { some: 'a perKeyLimit, a perKeyRateLimit or both: a tier without either changes nothing' },
)
const { queue: _queue, ...RUN_DEFAULTS } = RUN_OPTIONS

/**
 * The table of the settings of a queue. A setting is a row here, a property with its documentation above and in QueueSettings, its label in the
 * dashboard, and what the engine does with it; all else derives from the row. A row names other settings in backticks.
 */
export const QUEUE_OPTIONS = {
  concurrencyLimit: { kind: SLOTS, says: 'Jobs of the queue that run at the same time, over all workers' },
  sharedLimit: {
    kind: record({ name: { kind: NAME, required: true }, limit: { kind: SLOTS, required: true } }, { notation: 'shared' }),
    says: 'A job of the queue starts only while fewer than `limit` jobs run in all queues that name the same limit',
  },
  perKeyLimit: { kind: SLOTS, says: 'Jobs of each concurrency key that run at the same time' },
  rateLimit: { kind: RATE, says: 'Jobs of the queue that may start in a period, by default of 1 s, and at once, by default as many' },
  perKeyRateLimit: { kind: RATE, says: 'The same for the jobs of each concurrency key' },
  keyTiers: {
    kind: { type: 'tiers', of: TIER },
    says: 'Other limits for some keys: those of tier `gold` are for keys that begin with `gold:`, in place of the queue’s',
    example: '{"gold":{"perKeyLimit":10}}',
  },
  keyOrder: {
    kind: choice(['strict', 'turns'], 'turns'),
    says: 'Order of the jobs of a concurrency key: strict runs one at a time, as they were enqueued, retries included; turns lets keys with a limit take turns',
    preset: 'turns',
  },
  maxLength: {
    kind: integer(1, LIMITS.queueLength),
    says: 'Jobs that have yet to start; at this length a new job is refused, or as `onFull` says',
  },
  onFull: {
    kind: choice(['reject', 'drop-oldest'], 'reject'),
    says: 'At `maxLength`, reject refuses a new job; drop-oldest accepts it, and cancels the oldest one that is scheduled or waiting',
    preset: 'reject',
  },
  share: { kind: integer(1, 1_000), says: 'Jobs that start before it is the next queue’s turn', preset: '1' },
  fairness: {
    kind: choice(['name', 'none'], 'none'),
    says: 'Turns among jobs of equal priority: name gives each job name its turn, none makes all jobs one line',
    preset: 'none',
  },
  deadLetter: { kind: NAME, says: 'Queue that gets a new job for each job that fails permanently' },
  repeats: {
    kind: choice(['silent', 'event'], 'silent'),
    says: 'Calls that an earlier job answers: event emits deduplicated for each, silent informs only the caller',
    preset: 'silent',
  },
  empties: {
    kind: choice(['silent', 'event'], 'silent'),
    says: 'The end of its last live job: event emits queue.empty, silent emits nothing',
    preset: 'silent',
  },
  alertAfter: {
    kind: { type: 'duration', min: 1 },
    says: 'Longest wait of its oldest job before the queue is shown as a problem; without it, 10 times the usual wait',
  },
  retention: {
    kind: record({
      completed: {
        kind: { type: 'keep', preset: DEFAULT_RETENTION.completed },
        says: 'How long completed jobs of the queue are kept, in place of the engine’s retention',
      },
      failed: {
        kind: { type: 'keep', preset: DEFAULT_RETENTION.failed },
        says: 'How long failed jobs of the queue are kept, in place of the engine’s retention',
      },
      cancelled: {
        kind: { type: 'keep', preset: DEFAULT_RETENTION.cancelled },
        says: 'How long cancelled jobs of the queue are kept, in place of the engine’s retention',
      },
    }),
    says: 'How long ended jobs of the queue are kept',
    example: '{"completed":"1d","failed":"forever"}',
  },
  defaults: {
    kind: record(RUN_DEFAULTS),
    says: 'Options of its jobs for which neither the call nor the definition has a value',
    example: '{"maxAttempts":3,"timeout":null,"backoff":{"type":"fixed","delay":"5s"}}',
  },
} as const satisfies Record<keyof QueueOptions, Row>

const read = optionsReader('queues.configure', settingChecksOf(QUEUE_OPTIONS))

/** @throws OptionTypeError, OptionRangeError */
export function validateQueueOptions(options: unknown): QueueChanges {
  const changes: QueueChanges = read(options)
  const perKeyLimit = largestPerKey(changes)
  if (changes.keyOrder === 'strict' && perKeyLimit > 1)
    throw new OptionRangeError('perKeyLimit', 1, `perKeyLimit must be 1 or left out if keyOrder is 'strict', got ${perKeyLimit}`)
  if (changes.onFull === 'drop-oldest' && changes.maxLength === null)
    throw new OptionTypeError(
      'onFull',
      "onFull 'drop-oldest' is for a queue with a maxLength, and this takes that away: leave one of them out",
    )
  return changes
}

const readDefaults = checkOf(QUEUE_OPTIONS.defaults.kind)

/** @throws OptionTypeError, OptionRangeError */
export function defaultsOption(value: unknown): QueueDefaults {
  return readDefaults('defaults', value)
}

/** The options of `queues.resume`, and those that `queues.pause` shares with it. */
export interface ResumeOptions {
  /** Only jobs of this name. Default: all names. */
  readonly job?: string
  /** Only jobs with this `concurrencyKey`. Default: all keys. */
  readonly key?: string
}

/** The options of `queues.pause`. */
export interface PauseOptions extends ResumeOptions {
  /** The pause ends after this time: 1 ms to 100 years. Default: it lasts until `resume`. */
  readonly for?: Duration
}

const PLACE = { job: nameOption, key: textOption }
const pauseFor: Check<number> = (option, value) => durationOption(option, value, { min: 1 })

const readPause = optionsReader('queues.pause', { ...PLACE, for: pauseFor })
const readResume = optionsReader('queues.resume', PLACE)

/** @throws OptionTypeError, OptionRangeError */
export function validatePauseOptions(options: unknown = {}) {
  return onePlace(readPause(options))
}

/** @throws OptionTypeError, OptionRangeError */
export function validateResumeOptions(options: unknown = {}): ResumeOptions {
  return onePlace(readResume(options))
}

function onePlace<Place extends ResumeOptions>(place: Place): Place {
  const { job, key } = place
  if (job !== undefined && key !== undefined) throw new OptionTypeError('key', 'a pause takes a job name or a key, not both: call it twice')
  return place
}

/** The options of a handler's `snooze`. */
export interface SnoozeOptions {
  /**
   * Pauses a part of the job's queue for the same time: the whole queue, the jobs of its name, or those of its `concurrencyKey`. The job
   * keeps its place in line. A job without a key and 'key' pauses nothing else. Default: only the job itself is put off.
   */
  readonly pause?: PausePart
}

const readSnooze = optionsReader('snooze', { pause: (option, value) => choiceOption(option, value, PAUSE_PARTS) })

/** @throws OptionTypeError, OptionRangeError */
export function validateSnoozeOptions(options: unknown = {}): SnoozeOptions {
  return readSnooze(options)
}
