/** The options of `queues.configure` and `queues.pause`. */
import type { Duration } from '../duration.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import type { QueueChanges, QueueDefaults, QueueSettings, RateLimit } from '../queueSettings.ts'
import { DEFAULT_RETENTION } from '../retention.ts'
import { choiceOption } from './choice.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { durationOption } from './milliseconds.ts'
import { nameOption } from './name.ts'
import { type KeepOptions, keepOption } from './retention.ts'
import { RUN_OPTION_NAMES, type RunOptions, type RunSettings, readRunOptions } from './runOptions.ts'
import { textOption } from './text.ts'

export interface RateLimitOptions {
  /** Starts per `period`: 1 to 1,000,000,000. */
  readonly limit: number
  /** Default one second; 1 ms to 365 days. */
  readonly period?: Duration
  /** Starts at once after a pause: 1 to 1,000,000,000, default `limit`. */
  readonly burst?: number
}

/** Settings of a queue. An option that is left out stays as it is; null removes a setting. */
export interface QueueOptions {
  /** Jobs of the queue that run at the same time, over all workers: 1 to 1,000,000. */
  readonly concurrencyLimit?: number | null
  /**
   * The same for each `concurrencyKey` in the queue: 1 to 1,000,000. Keys take turns, in rounds of so many jobs of each key and job name,
   * whatever room the workers have: a key that comes waits for at most so many starts of each other. For small rounds give a small one, or
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
  /** Retention of the queue's jobs, in place of the engine's. */
  readonly retention?: { readonly completed?: KeepOptions; readonly failed?: KeepOptions; readonly cancelled?: KeepOptions } | null
  /** Options of jobs for which neither the call nor the definition has a value, in place of the `defaults` of `openEngine`. */
  readonly defaults?: Omit<RunOptions, 'queue'> | null
}

const KNOWN = new Set([
  'concurrencyLimit',
  'perKeyLimit',
  'keyOrder',
  'rateLimit',
  'perKeyRateLimit',
  'maxLength',
  'onFull',
  'share',
  'fairness',
  'retention',
  'defaults',
])
const RATE_KNOWN = new Set(['limit', 'period', 'burst'])
const KEEP_KNOWN = new Set(['completed', 'failed', 'cancelled'])
const DEFAULTS_KNOWN = new Set<string>(RUN_OPTION_NAMES.filter((name) => name !== 'queue'))
const LENGTH_MAX = 1_000_000_000
const SHARE_MAX = 1_000
const YEAR_MS = 365 * 86_400_000

/** @throws OptionTypeError, OptionRangeError */
export function validateQueueOptions(options: unknown): QueueChanges {
  checkKnown('queues.configure', options, KNOWN)
  const changes: { -readonly [Name in keyof QueueSettings]?: QueueSettings[Name] | null } = {}
  const { concurrencyLimit, perKeyLimit, keyOrder, rateLimit, perKeyRateLimit, maxLength, onFull, share, fairness, retention, defaults } =
    options
  if (concurrencyLimit !== undefined)
    changes.concurrencyLimit = orNull(concurrencyLimit, count('concurrencyLimit', LIMITS.concurrencyLimit))
  if (perKeyLimit !== undefined) changes.perKeyLimit = orNull(perKeyLimit, count('perKeyLimit', LIMITS.concurrencyLimit))
  if (keyOrder !== undefined)
    changes.keyOrder = orNull(keyOrder, (value) => (choiceOption('keyOrder', value, ['strict', 'turns']) === 'strict' ? 'strict' : null))
  if (changes.keyOrder === 'strict' && (changes.perKeyLimit ?? 1) > 1)
    throw new OptionRangeError('perKeyLimit', 1, `perKeyLimit must be 1 or left out if keyOrder is 'strict', got ${changes.perKeyLimit}`)
  if (rateLimit !== undefined) changes.rateLimit = orNull(rateLimit, rateOption('rateLimit'))
  if (perKeyRateLimit !== undefined) changes.perKeyRateLimit = orNull(perKeyRateLimit, rateOption('perKeyRateLimit'))
  if (maxLength !== undefined) changes.maxLength = orNull(maxLength, count('maxLength', LENGTH_MAX))
  if (onFull !== undefined)
    changes.onFull = orNull(onFull, (value) =>
      choiceOption('onFull', value, ['reject', 'drop-oldest']) === 'drop-oldest' ? 'drop-oldest' : null,
    )
  if (changes.onFull === 'drop-oldest' && changes.maxLength === null)
    throw new OptionTypeError(
      'onFull',
      "onFull 'drop-oldest' is for a queue with a maxLength, and this takes that away: leave one of them out",
    )
  if (share !== undefined) changes.share = orNull(share, count('share', SHARE_MAX))
  if (fairness !== undefined)
    changes.fairness = orNull(fairness, (value) => (choiceOption('fairness', value, ['name', 'none']) === 'name' ? 'name' : null))
  if (retention !== undefined) changes.retention = orNull(retention, keepsOption)
  if (defaults !== undefined) changes.defaults = orNull(defaults, defaultsOption)
  return changes
}

function orNull<T>(value: unknown, check: (value: unknown) => T): T | null {
  return value === null ? null : check(value)
}

function count(option: string, max: number): (value: unknown) => number {
  return (value) => integerOption(option, value, 1, max)
}

function rateOption(option: 'rateLimit' | 'perKeyRateLimit'): (value: unknown) => RateLimit {
  return (value) => {
    checkKnown(option, value, RATE_KNOWN)
    const limit = integerOption(`${option}.limit`, value['limit'], 1, LENGTH_MAX)
    const { period = 1_000, burst = limit } = value
    return {
      limit,
      period: durationOption(`${option}.period`, period, { min: 1, max: YEAR_MS }),
      burst: integerOption(`${option}.burst`, burst, 1, LENGTH_MAX),
    }
  }
}

function keepsOption(value: unknown): NonNullable<QueueSettings['retention']> {
  checkKnown('retention', value, KEEP_KNOWN)
  const keeps: { -readonly [State in keyof NonNullable<QueueSettings['retention']>]: NonNullable<QueueSettings['retention']>[State] } = {}
  for (const state of ['completed', 'failed', 'cancelled'] as const)
    if (value[state] !== undefined) keeps[state] = keepOption(`retention.${state}`, value[state], DEFAULT_RETENTION[state])
  return keeps
}

/** @throws OptionTypeError, OptionRangeError */
export function defaultsOption(value: unknown): QueueDefaults {
  checkKnown('defaults', value, DEFAULTS_KNOWN)
  const settings: RunSettings = {}
  readRunOptions(value, settings)
  return settings
}

export interface PauseOptions {
  /** Only jobs of this name. Default: all names. */
  readonly job?: string
  /** Only jobs with this `concurrencyKey`. Default: all keys. */
  readonly key?: string
}

const PAUSE_KNOWN = new Set(['job', 'key'])

/** @throws OptionTypeError, OptionRangeError */
export function validatePauseOptions(options: unknown = {}): PauseOptions {
  checkKnown('queues.pause', options, PAUSE_KNOWN)
  const { job, key } = options
  if (job !== undefined && key !== undefined) throw new OptionTypeError('key', 'a pause takes a job name or a key, not both: call it twice')
  return { ...(job !== undefined && { job: nameOption('job', job) }), ...(key !== undefined && { key: textOption('key', key) }) }
}
