/** Settings of a queue: stored in the file, changed at run time, in force from the turn that takes the change. */
import type { Defaults } from './commands.ts'
import type { Keep, Retention } from './retention.ts'

/** A token bucket: `burst` starts at once, then `limit` per `period`, each exactly when its token is there. */
export interface RateLimit {
  readonly limit: number
  /** Milliseconds. */
  readonly period: number
  readonly burst: number
}

/** A limit that queues share by naming it. */
export interface SharedLimit {
  readonly name: string
  /** A job of the queue starts only while fewer than this number of jobs run in all queues that name the limit. */
  readonly limit: number
}

/** Options of jobs for which neither the call nor the definition has a value. */
export type QueueDefaults = Omit<Defaults, 'queue'>

/** The settings of a queue that are in force; what is left out has no limit. */
export interface QueueSettings {
  /** Jobs of the queue that run at the same time, whatever worker runs them. */
  readonly concurrencyLimit?: number
  readonly sharedLimit?: SharedLimit
  /** The same for each `concurrencyKey` in the queue. */
  readonly perKeyLimit?: number
  /** Jobs of each `concurrencyKey` run one at a time and in the order of their arrival, retries included. */
  readonly keyOrder?: 'strict'
  readonly rateLimit?: RateLimit
  /** The same for each `concurrencyKey` in the queue. */
  readonly perKeyRateLimit?: RateLimit
  /** By tier: limits in place of the queue's for keys that begin with its name and a colon. */
  readonly keyTiers?: KeyTiers
  /** Jobs that are yet to start; more are refused. */
  readonly maxLength?: number
  /** More are taken, and the oldest that are yet to start are cancelled for them. */
  readonly onFull?: 'drop-oldest'
  /** Hand-outs in a row before the next queue's turn; 1 where it is not set. */
  readonly share?: number
  /** Job names of equal priority take turns; without it all are one line. */
  readonly fairness?: 'name'
  readonly retention?: Partial<Record<'completed' | 'failed' | 'cancelled', Keep>>
  /** The queue that gets a new job for each job of this queue that fails permanently. */
  readonly deadLetter?: string
  /** Each call for this queue that an earlier job answers has an event. */
  readonly repeats?: 'event'
  /** The end of its last live job has an event. */
  readonly empties?: 'event'
  /** In milliseconds: the queue is shown as a problem once its oldest waiting job has waited for longer. */
  readonly alertAfter?: number
  /** It takes no new jobs: set by `drain`, and taken back by `resume`. */
  readonly draining?: true
  /** They replace the engine's, option by option. */
  readonly defaults?: QueueDefaults
}

/** The limits of one key. */
export type KeyLimits = Pick<QueueSettings, 'perKeyLimit' | 'perKeyRateLimit'>

export type KeyTiers = Readonly<Record<string, KeyLimits>>

/** Changes of a queue's settings: null removes a setting. */
export type QueueChanges = { readonly [Name in keyof QueueSettings]?: QueueSettings[Name] | null }

export const NO_SETTINGS: QueueSettings = Object.freeze({})

/** Merges changes into settings. A value that equals the one before stays the same object, so that `!==` finds what has changed. */
export function changeSettings(settings: QueueSettings, changes: QueueChanges): QueueSettings {
  const before: Readonly<Record<string, unknown>> = { ...settings }
  const entries = Object.entries({ ...settings, ...changes })
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => [name, textOf(value) === textOf(before[name]) ? before[name] : value])
  return entries.length === 0 ? NO_SETTINGS : Object.freeze(Object.fromEntries(entries))
}

/** Whatever the order in which they were said. */
export function sameSettings(a: QueueSettings, b: QueueSettings): boolean {
  return textOf(a) === textOf(b)
}

function textOf(value: unknown): string | undefined {
  const isObject = (value: unknown) => typeof value === 'object' && value !== null
  const sorted = (value: object) => Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  return JSON.stringify(value, (_, part) => (isObject(part) ? sorted(part as object) : part))
}

/** True if a new job may be refused, or may take an older job's place. */
export function mayRefuse({ maxLength, draining }: QueueSettings): boolean {
  return maxLength !== undefined || draining !== undefined
}

/** True if the queue holds jobs back by their keys. */
export function limitsKeys({ perKeyLimit, perKeyRateLimit, keyTiers, keyOrder }: QueueSettings): boolean {
  return perKeyLimit !== undefined || perKeyRateLimit !== undefined || keyTiers !== undefined || keyOrder !== undefined
}

/** Returns the most jobs of one key that may run, in whatever tier; 1 without a limit. */
export function largestPerKey({ perKeyLimit, keyTiers }: Pick<QueueChanges, 'perKeyLimit' | 'keyTiers'>): number {
  return Math.max(perKeyLimit ?? 1, ...Object.values(keyTiers ?? {}).map((tier) => tier.perKeyLimit ?? 1))
}

/** Returns the limits of one key: its tier's, and the queue's where the tier has none. Its tier is the text before its first colon. */
export function keyLimitsOf(settings: QueueSettings, key: string): KeyLimits {
  const { keyTiers, perKeyLimit, perKeyRateLimit } = settings
  if (keyTiers === undefined) return settings
  const end = key.indexOf(':')
  const tier = key.slice(0, Math.max(0, end))
  if (!Object.hasOwn(keyTiers, tier)) return settings
  return { ...(perKeyLimit && { perKeyLimit }), ...(perKeyRateLimit && { perKeyRateLimit }), ...keyTiers[tier] }
}

/** The engine's defaults with those of the queue over them. */
export function defaultsOf(engine: QueueDefaults | undefined, { defaults: own }: QueueSettings): QueueDefaults | undefined {
  return engine === undefined || own === undefined ? (own ?? engine) : { ...engine, ...own }
}

export function retentionOf(retention: Retention, { retention: own }: QueueSettings): Retention {
  return own === undefined ? retention : { ...retention, ...own }
}
