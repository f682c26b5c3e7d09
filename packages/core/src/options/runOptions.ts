/**
 * The table of job options that a definition, an enqueue and the defaults of a queue share. An option is a row here, a property with
 * its documentation, and what the engine does with it. Its checks, its place on the wire, its HTTP schema, its command-line flag, its
 * settings and their documentation derive from the row.
 */
import type { Duration } from '../duration.ts'
import { LIMITS } from '../limits.ts'
import type { BackoffOptions } from './backoff.ts'
import { checkOf, integer, NAME, type Row, type ValueOf, withoutPresets } from './kind.ts'
import type { Forever } from './milliseconds.ts'

export interface RunOptions {
  /** Default `'default'`. */
  readonly queue?: string
  /** Within its queue higher ones start first: −1,000,000 to 1,000,000, default 0. */
  readonly priority?: number
  /** Share of its worker's concurrency that the job takes: 1 to 1,000,000, default 1. */
  readonly weight?: number
  /** Tokens that each start takes from the rate limits of its queue and its key: 1 to 1,000,000,000, default 1. */
  readonly tokens?: number
  /** Attempts in total, the first included: 1 to 100,000, default 4. */
  readonly maxAttempts?: number
  /**
   * Runs that may lose their worker without using an attempt: 0 to 100,000. The next such run fails the job with WorkerLostError. Default
   * none: a run that loses its worker uses an attempt.
   */
  readonly maxLost?: number
  /** No retry begins later than this long after the enqueue: then the job fails. At least 1 ms; default none. */
  readonly maxAge?: Duration
  /** Default exponential from 20 s, factor 2, cap 1 h, jitter 0.2. */
  readonly backoff?: BackoffOptions
  /** From hand-out to the deadline of one attempt: at least 1 ms, or Infinity; default 5 m. */
  readonly timeout?: Duration
  /**
   * A heartbeat or a checkpoint extends the deadline to at least this long from then: 0 to 100 years, default 2 m. With 0 nothing
   * extends it.
   */
  readonly heartbeatTimeout?: Duration
  /**
   * The job fails with JobExpiredError if it has not started this long after the enqueue: at least 1 ms. Infinity means never, even if the
   * queue's `defaults` have a `ttl`. Default none.
   */
  readonly ttl?: Duration
  /**
   * The time for which the job is kept once it has ended, in any final state: 0 to 100 years, or `'forever'`. 0 deletes it in the
   * commit that ends it. Replaces the age and the count of its queue's `retention`. Default none.
   */
  readonly keep?: Duration | Forever
  /** The newest log lines that each run keeps: 0 to 10,000, default 100. With 0 nothing is kept. */
  readonly logLines?: number
}

export type RunOption = keyof RunOptions

export const RUN_OPTIONS = {
  queue: { kind: NAME, says: 'Queue that the job goes to', preset: '"default"' },
  priority: {
    kind: integer(-LIMITS.priority, LIMITS.priority),
    says: 'Jobs of a queue with a higher priority start first',
    preset: '0',
  },
  weight: {
    kind: integer(1, LIMITS.weight),
    says: "Share of its worker's concurrency that the job takes",
    preset: '1',
  },
  tokens: {
    kind: integer(1, LIMITS.tokens),
    says: 'Tokens that each start takes from the rate limits of its queue and its key',
    preset: '1',
  },
  maxAttempts: {
    kind: integer(1, LIMITS.maxAttempts),
    says: 'Attempts in total, the first included',
    preset: '4',
  },
  maxLost: {
    kind: integer(0, LIMITS.maxAttempts),
    says: 'Runs that may lose their worker without using an attempt; the next one fails the job',
  },
  maxAge: { kind: { type: 'duration', min: 1 }, says: 'No retry begins later than this long after the enqueue' },
  backoff: {
    kind: { type: 'backoff' },
    says: 'Delay between attempts',
    preset: 'exponential from 20s, factor 2, at most 1h, jitter 0.2',
  },
  timeout: { kind: { type: 'duration', min: 1, endless: 'kept' }, says: 'Time limit of one attempt', preset: '5m' },
  heartbeatTimeout: {
    kind: { type: 'duration', min: 0 },
    says: 'A heartbeat extends the time limit to this long from then; with 0 nothing extends it',
    preset: '2m',
  },
  ttl: { kind: { type: 'duration', min: 1, endless: 'capped' }, says: 'The job fails if it has not started this long after its enqueue' },
  keep: {
    kind: { type: 'duration', min: 0, forever: true },
    says: 'The job is deleted this long after its end, or with 0 as it ends, instead of by the retention of its queue',
  },
  logLines: {
    kind: integer(0, LIMITS.logLinesKept),
    says: 'Log lines that each run keeps, the newest ones',
    preset: '100',
  },
} as const satisfies Record<RunOption, Row>

const { priority, weight, maxAttempts, timeout, backoff } = RUN_OPTIONS

/** The rows that a change of a job may set. A field that is left out stays as it is, so none has a preset. */
export const RUN_CHANGES = withoutPresets({ priority, weight, maxAttempts, timeout, backoff })

export type RunChange = 'priority' | 'weight' | 'maxAttempts' | 'timeout' | 'backoff'

export const RUN_OPTION_NAMES = Object.keys(RUN_OPTIONS) as RunOption[]

/** The same, checked: only what was set, durations in milliseconds. */
export type RunSettings = { -readonly [Name in RunOption]?: ValueOf<(typeof RUN_OPTIONS)[Name]['kind']> }

/** Returns options that came as JSON, in which null says that there is no limit. */
export function endlessOf<Options extends object>(read: Options): Options {
  const endless = RUN_OPTION_NAMES.filter((name) => (read as Record<string, unknown>)[name] === null)
  return endless.length === 0 ? read : { ...read, ...Object.fromEntries(endless.map((name) => [name, Number.POSITIVE_INFINITY])) }
}

const CHECKS = RUN_OPTION_NAMES.map((name) => [name, checkOf<Row['kind']>(RUN_OPTIONS[name].kind)] as const)

/** Reads the options of this table into `settings`, leaving out what is not set. Throws OptionTypeError, OptionRangeError. */
export function readRunOptions(options: Readonly<Record<string, unknown>>, settings: RunSettings): void {
  const read = settings as Record<string, unknown>
  for (const [name, check] of CHECKS) {
    const value = options[name]
    if (value !== undefined) read[name] = check(name, value)
  }
}
