/** The options of `queues.configure` and `queues.pause`. */
import type { Duration } from '../duration.ts'
import { OptionRangeError, OptionTypeError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { PAUSE_PARTS, type PausePart } from '../pausePart.ts'
import {
  type KeyLimits,
  type KeyTiers,
  largestPerKey,
  type QueueChanges,
  type QueueDefaults,
  type QueueSettings,
  type RateLimit,
  type SharedLimit,
} from '../queueSettings.ts'
import { DEFAULT_RETENTION } from '../retention.ts'
import { choiceOption } from './choice.ts'
import { describe, shortened } from './describe.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { durationOption } from './milliseconds.ts'
import { nameOption } from './name.ts'
import { type Check, integerBetween, optionsReader, orNull } from './read.ts'
import { type KeepOptions, keepOption } from './retention.ts'
import { RUN_OPTION_NAMES, type RunOptions, type RunSettings, readRunOptions } from './runOptions.ts'
import { textOption } from './text.ts'
import { UNSAFE_KEYS } from './unsafeKeys.ts'

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
  /** Retention of the queue's jobs, in place of the engine's. */
  readonly retention?: { readonly completed?: KeepOptions; readonly failed?: KeepOptions; readonly cancelled?: KeepOptions } | null
  /** Options of jobs for which neither the call nor the definition has a value, in place of the `defaults` of `openEngine`. */
  readonly defaults?: Omit<RunOptions, 'queue'> | null
}

const LENGTH_MAX = 1_000_000_000
const SHARE_MAX = 1_000
const YEAR_MS = 365 * 86_400_000
const KEPT = ['completed', 'failed', 'cancelled'] as const

/** One of some words, of which all but `set` stand for the absence of the setting. */
const word = <const Word extends string>(set: Word, words: readonly string[]): Check<Word | null> =>
  orNull((option, value) => (choiceOption(option, value, words) === set ? set : null))

/** The words of settings that take one of some. */
export const QUEUE_WORDS = {
  keyOrder: ['strict', 'turns'],
  onFull: ['reject', 'drop-oldest'],
  fairness: ['name', 'none'],
  repeats: ['silent', 'event'],
} as const

const count = (max: number) => orNull(integerBetween(1, max))

const read = optionsReader('queues.configure', {
  concurrencyLimit: count(LIMITS.concurrencyLimit),
  sharedLimit: orNull(sharedOption),
  perKeyLimit: count(LIMITS.concurrencyLimit),
  keyOrder: word('strict', QUEUE_WORDS.keyOrder),
  rateLimit: orNull(rateOption),
  perKeyRateLimit: orNull(rateOption),
  keyTiers: orNull(tiersOption),
  maxLength: count(LENGTH_MAX),
  onFull: word('drop-oldest', QUEUE_WORDS.onFull),
  share: count(SHARE_MAX),
  fairness: word('name', QUEUE_WORDS.fairness),
  deadLetter: orNull(nameOption),
  repeats: word('event', QUEUE_WORDS.repeats),
  retention: orNull(keepsOption),
  defaults: orNull((_option, value) => defaultsOption(value)),
})

/** @throws OptionTypeError, OptionRangeError */
export function validateQueueOptions(options: unknown): QueueChanges {
  const changes = read(options)
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

const RATE_KNOWN = new Set(['limit', 'period', 'burst'])

function rateOption(option: string, value: unknown): RateLimit {
  checkKnown(option, value, RATE_KNOWN)
  const limit = integerOption(`${option}.limit`, value['limit'], 1, LIMITS.tokens)
  const { period = 1_000, burst = limit } = value
  return {
    limit,
    period: durationOption(`${option}.period`, period, { min: 1, max: YEAR_MS }),
    burst: integerOption(`${option}.burst`, burst, 1, LIMITS.tokens),
  }
}

const SHARED_KNOWN = new Set(['name', 'limit'])

function sharedOption(option: string, value: unknown): SharedLimit {
  checkKnown(option, value, SHARED_KNOWN)
  return {
    name: nameOption(`${option}.name`, value['name']),
    limit: integerOption(`${option}.limit`, value['limit'], 1, LIMITS.concurrencyLimit),
  }
}

/** No tiers are as none. */
function tiersOption(option: string, value: unknown): KeyTiers | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new OptionTypeError(option, `${option} must be an object with a tier for each name, got ${describe(value)}`)
  const { length } = Object.keys(value)
  if (length > LIMITS.keyTiers)
    throw new OptionRangeError(
      option,
      LIMITS.keyTiers,
      `${option} must have at most ${LIMITS.keyTiers} tiers, got ${length}: put more keys into each`,
    )
  if (length === 0) return null
  return Object.fromEntries(Object.entries(value).map(([name, tier]) => [tierName(option, name), tierOption(`${option}.${name}`, tier)]))
}

function tierName(option: string, name: string): string {
  if (name.includes(':'))
    throw new OptionTypeError(
      option,
      `${option} has the tier '${shortened(name)}': the name of a tier has no colon, because it ends at the first one of a key`,
    )
  if (UNSAFE_KEYS.has(name))
    throw new OptionTypeError(option, `${option} has the tier '${shortened(name)}', which no map may have for a key: give it another name`)
  return nameOption(`${option}: the name of a tier`, name)
}

const TIER_KNOWN = new Set(['perKeyLimit', 'perKeyRateLimit'])

function tierOption(option: string, value: unknown): KeyLimits {
  checkKnown(option, value, TIER_KNOWN)
  const { perKeyLimit: limit, perKeyRateLimit: rate } = value
  if (limit === undefined && rate === undefined)
    throw new OptionTypeError(option, `${option} must have a perKeyLimit, a perKeyRateLimit or both: a tier without either changes nothing`)
  return {
    ...(limit !== undefined && { perKeyLimit: integerOption(`${option}.perKeyLimit`, limit, 1, LIMITS.concurrencyLimit) }),
    ...(rate !== undefined && { perKeyRateLimit: rateOption(`${option}.perKeyRateLimit`, rate) }),
  }
}

const KEPT_KNOWN: ReadonlySet<string> = new Set(KEPT)

function keepsOption(option: string, value: unknown): NonNullable<QueueSettings['retention']> {
  checkKnown(option, value, KEPT_KNOWN)
  const keeps = KEPT.filter((state) => value[state] !== undefined)
  return Object.fromEntries(keeps.map((state) => [state, keepOption(`${option}.${state}`, value[state], DEFAULT_RETENTION[state])]))
}

const DEFAULTS_KNOWN = new Set<string>(RUN_OPTION_NAMES.filter((name) => name !== 'queue'))

/** @throws OptionTypeError, OptionRangeError */
export function defaultsOption(value: unknown): QueueDefaults {
  checkKnown('defaults', value, DEFAULTS_KNOWN)
  const settings: RunSettings = {}
  readRunOptions(value, settings)
  return settings
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
