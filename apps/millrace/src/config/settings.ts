/** Settings of a queue that change while it works: kept in the database, in force at once. */
import type { Engine, QueueView } from '@millrace/client'
import {
  type BackoffOptions,
  DEFAULT_POLICY,
  type Keep,
  type KeepOptions,
  LIMITS,
  OptionTypeError,
  optionHint,
  parseDuration,
  type QueueOptions,
  type RateLimitOptions,
  RUN_OPTION_NAMES,
  RUN_OPTIONS,
  type RunOption,
  type SharedLimit,
  type Stats,
} from '@millrace/core'
import { flagName } from './flagName.ts'

export interface QueueOption {
  /** Default `'default'`. */
  readonly queue?: string
}

export interface StoredSetting {
  readonly key: string
  /** Undefined where the queue does not say. Durations in milliseconds. */
  readonly value: unknown
}

interface Kind {
  /** The change of the queue that a text stands for; null takes the setting away. */
  readonly change: (value: string | null, view: QueueView | undefined) => QueueOptions
  readonly read: (view: QueueView) => unknown
  /** True if it applies to jobs that do not state it themselves. */
  readonly isDefault?: true
  /** Returns the duration in a value, as it is written. */
  readonly duration?: (value: string) => string | undefined
}

type Limit = 'concurrencyLimit' | 'perKeyLimit' | 'maxLength' | 'share'
type Run = Exclude<RunOption, 'queue' | 'backoff'>
type Finished = 'completed' | 'failed' | 'cancelled'

const limit = (name: Limit): Kind => ({
  change: (value) => ({ [name]: value === null ? null : read(value) }),
  read: ({ settings }) => settings[name],
})

const rate = (name: 'rateLimit' | 'perKeyRateLimit', key: string): Kind => ({
  change: (value) => ({ [name]: value === null ? null : rateOf(key, value) }),
  read: ({ settings }) => settings[name],
  duration: (value) => RATE.exec(value)?.[2],
})

const itself = (value: string) => value

/** A setting that changes one of the defaults: the others stay. */
const run = (name: Run): Kind => ({
  isDefault: true,
  ...(RUN_OPTIONS[name].kind.type === 'duration' && { duration: itself }),
  change: (value, view) => defaultsWith(view, { [name]: value === null ? undefined : read(value) }),
  read: ({ settings }) => (name === 'keep' ? keptFor(settings.defaults?.keep) : settings.defaults?.[name]),
})

const keptFor = (ms: number | undefined): number | 'forever' | undefined => (ms === LIMITS.durationMs ? 'forever' : ms)

const backoff = (name: keyof BackoffOptions): Kind => ({
  isDefault: true,
  ...((name === 'delay' || name === 'maxDelay') && { duration: itself }),
  change: (value, view) => {
    const { [name]: _former, ...rest } = view?.settings.defaults?.backoff ?? DEFAULT_POLICY.backoff
    const changed = { ...rest, ...(value === null ? presetOf(name) : { [name]: read(value) }) } as Record<string, unknown>
    // A factor is of exponential backoff alone.
    if (name === 'type' && value !== 'exponential') delete changed['factor']
    return defaultsWith(view, { backoff: changed })
  },
  read: ({ settings }) => settings.defaults?.backoff?.[name],
})

const retention = (state: Finished): Kind => ({
  duration: itself,
  change: (value, view) => {
    const { [state]: _former, ...others } = keepsOf(view)
    const kept: Keeps = { ...others, ...(value !== null && { [state]: read(value) }) }
    return { retention: Object.keys(kept).length === 0 ? null : kept }
  },
  read: ({ settings }) => keptFor(settings.retention?.[state]?.ageMs),
})

const RUN_NAMES = RUN_OPTION_NAMES.filter((name): name is Run => name !== 'queue' && name !== 'backoff')

const KINDS: Readonly<Record<string, Kind>> = {
  'concurrency-limit': limit('concurrencyLimit'),
  'shared-limit': {
    change: (value) => ({ sharedLimit: value === null ? null : sharedOf(value) }),
    read: ({ settings }) => settings.sharedLimit,
  },
  'per-key-limit': limit('perKeyLimit'),
  'rate-limit': rate('rateLimit', 'rate-limit'),
  'per-key-rate-limit': rate('perKeyRateLimit', 'per-key-rate-limit'),
  'key-tiers': {
    change: (value) => ({ keyTiers: value === null ? null : tiersOf(value) }),
    read: ({ settings }) => settings.keyTiers,
  },
  'key-order': { change: (value) => ({ keyOrder: value as 'strict' | 'turns' | null }), read: ({ settings }) => settings.keyOrder },
  'max-length': limit('maxLength'),
  'on-full': { change: (value) => ({ onFull: value as 'reject' | 'drop-oldest' | null }), read: ({ settings }) => settings.onFull },
  share: limit('share'),
  fairness: { change: (value) => ({ fairness: value as 'name' | null }), read: ({ settings }) => settings.fairness },
  'dead-letter': { change: (value) => ({ deadLetter: value }), read: ({ settings }) => settings.deadLetter },
  repeats: { change: (value) => ({ repeats: value as 'event' | 'silent' | null }), read: ({ settings }) => settings.repeats },
  ...Object.fromEntries(RUN_NAMES.map((name) => [flagName(name), run(name)])),
  'backoff.type': backoff('type'),
  'backoff.delay': backoff('delay'),
  'backoff.factor': backoff('factor'),
  'backoff.max-delay': backoff('maxDelay'),
  'backoff.jitter': backoff('jitter'),
  'retention.completed': retention('completed'),
  'retention.failed': retention('failed'),
  'retention.cancelled': retention('cancelled'),
}

const PAUSED = 'paused'

export const SETTING_KEYS: readonly string[] = [...Object.keys(KINDS), PAUSED]

/**
 * Changes a setting of a queue; resolves when it is in force. `'none'` takes it away. Two changes of one queue at the same moment
 * may undo one another where both are of its backoff, its retention or its jobs' defaults: make one after the other.
 *
 * @throws OptionTypeError, OptionRangeError
 */
export async function setSetting(
  engine: Engine,
  key: string,
  value: string | number | boolean,
  { queue = 'default' }: QueueOption = {},
): Promise<void> {
  checkKey(key)
  const text = String(value)
  if (key === PAUSED) return pause(engine, text, queue)
  const { change } = KINDS[key] as Kind
  const view = await engine.queues.get(queue)
  await engine.queues.configure(queue, change(text === 'none' ? null : text, view))
}

/** Returns the duration in a value, as it is written: the whole value of `timeout`, the period of `rate-limit`. Undefined if it has none. */
export function durationIn(key: string, value: string): string | undefined {
  return KINDS[key]?.duration?.(value)
}

/** True if a setting applies to jobs for which neither a call nor a definition states it. */
export function isDefault(key: string): boolean {
  return KINDS[key]?.isDefault === true
}

/** Names of jobs that such a setting does not reach, because their definition states its own value. */
export function unreached(key: string, definitions: Stats['definitions']): readonly string[] {
  const [option = ''] = key.split('.')
  const field = option.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  return definitions.filter(({ defaults }) => defaults.weak !== true && field in defaults).map(({ name }) => name)
}

/** Returns the queue's value; undefined if it has none. */
export async function getSetting(engine: Engine, key: string, { queue = 'default' }: QueueOption = {}): Promise<unknown> {
  checkKey(key)
  const view = await engine.queues.get(queue)
  return view && readSetting(view, key)
}

/** Every key, with what the queue says. */
export async function listSettings(engine: Engine, { queue = 'default' }: QueueOption = {}): Promise<readonly StoredSetting[]> {
  const view = await engine.queues.get(queue)
  return SETTING_KEYS.map((key) => ({ key, value: view && readSetting(view, key) }))
}

function readSetting(view: QueueView, key: string): unknown {
  return key === PAUSED ? view.paused : (KINDS[key] as Kind).read(view)
}

async function pause(engine: Engine, text: string, queue: string): Promise<void> {
  if (text !== 'true' && text !== 'false' && text !== 'none')
    throw new OptionTypeError(PAUSED, `paused must be true or false, got ${JSON.stringify(text)}`)
  // As every setting, it may come before the queue's first job.
  if ((await engine.queues.get(queue)) === undefined) await engine.queues.configure(queue, {})
  await (text === 'true' ? engine.queues.pause(queue) : engine.queues.resume(queue))
}

type Keeps = { readonly [State in Finished]?: KeepOptions }

/** How long the queue keeps jobs, as it can be told again. */
export function keepsOf(view: QueueView | undefined): Keeps {
  const { retention = {} } = view?.settings ?? {}
  return Object.fromEntries(
    Object.entries<Keep>(retention as Record<Finished, Keep>).map(([state, { ageMs, count }]) => [state, { age: ageMs, count }]),
  )
}

function checkKey(key: string): void {
  if (!SETTING_KEYS.includes(key))
    throw new OptionTypeError(
      key,
      `unknown setting '${key}': ${optionHint(key, new Set(SETTING_KEYS)) ?? 'millrace config show lists all settings'}`,
    )
}

/** The defaults of the queue's jobs with some changed, as they can be told again. */
export function defaultsWith(view: QueueView | undefined, changes: Readonly<Record<string, unknown>>): QueueOptions {
  const defaults = Object.fromEntries(Object.entries({ ...view?.settings.defaults, ...changes }).filter(([, value]) => value !== undefined))
  return { defaults: Object.keys(defaults).length === 0 ? null : defaults }
}

function presetOf(name: keyof BackoffOptions): Partial<BackoffOptions> {
  const { [name]: preset } = DEFAULT_POLICY.backoff
  return preset === undefined ? {} : { [name]: preset }
}

/** Returns a number if the string is one; otherwise the string: a duration, or something for the engine to refuse. */
function read(text: string): never {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  return (Number.isNaN(number) ? text : number) as never
}

/** `smtp:5`. A name may have colons of its own. */
function sharedOf(text: string): SharedLimit {
  const [, name, limitText] = /^(.+):(\d+)$/.exec(text) ?? []
  if (name === undefined)
    throw new OptionTypeError('shared-limit', `shared-limit must be a name and a number of jobs, as 'smtp:5', got ${JSON.stringify(text)}`)
  return { name, limit: Number(limitText) }
}

/** JSON, as in the configuration. The engine checks what is in it. */
function tiersOf(text: string): NonNullable<QueueOptions['keyTiers']> {
  try {
    return JSON.parse(text) as NonNullable<QueueOptions['keyTiers']>
  } catch {
    throw new OptionTypeError('key-tiers', `key-tiers must be JSON, as '{"gold":{"perKeyLimit":10}}', got ${JSON.stringify(text)}`)
  }
}

const RATE = /^(\d+)(?:\/(\d+(?:\.\d+)? ?[a-z]+|\d+))?(?: burst (\d+))?$/

/** `100/1m burst 10`. */
function rateOf(key: string, text: string): RateLimitOptions {
  const [, limitText, period, burst] = RATE.exec(text) ?? []
  if (limitText === undefined || (period !== undefined && parseDuration(read(period)) === undefined))
    throw new OptionTypeError(key, `${key} must be '100/1m', '100/1m burst 10', or '100' a second, got ${JSON.stringify(text)}`)
  return {
    limit: Number(limitText),
    ...(period !== undefined && { period: read(period) }),
    ...(burst !== undefined && { burst: Number(burst) }),
  }
}
