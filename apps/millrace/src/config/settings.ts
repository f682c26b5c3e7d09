/** Settings of a queue that change while it works: kept in the database, in force at once. */
import type { Engine, QueueView } from '@millrace/client'
import {
  type BackoffOptions,
  DEFAULT_POLICY,
  type Keep,
  type KeepOptions,
  type Kind,
  LIMITS,
  OptionTypeError,
  optionHint,
  QUEUE_OPTIONS,
  type QueueOptions,
  RUN_OPTIONS,
  type RunOption,
  type Stats,
} from '@millrace/core'
import { defined } from '../defined.ts'
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

interface Setting {
  /** Undefined for a number or a word. */
  readonly kind?: Kind
  /** The change of the queue that a value stands for; null takes the setting away. */
  readonly change: (value: unknown, view: QueueView | undefined) => QueueOptions
  readonly read: (view: QueueView) => unknown
  /** True if it applies to jobs that do not state it themselves. */
  readonly isDefault?: true
}

type Run = Exclude<RunOption, 'queue' | 'backoff'>
type Finished = 'completed' | 'failed' | 'cancelled'

const { retention: RETENTION, defaults: _defaults, ...LIMITING } = QUEUE_OPTIONS
const { queue: _queue, backoff: _backoff, ...RUN } = RUN_OPTIONS

const limit = (name: keyof typeof LIMITING): Setting => ({
  kind: LIMITING[name].kind,
  change: (value) => ({ [name]: value }),
  read: ({ settings }) => settings[name],
})

/** A setting that changes one of the defaults: the others stay. */
const run = (name: Run): Setting => ({
  kind: RUN[name].kind,
  isDefault: true,
  change: (value, view) => defaultsWith(view, { [name]: value ?? undefined }),
  read: ({ settings }) => (name === 'keep' ? keptFor(settings.defaults?.keep) : settings.defaults?.[name]),
})

const keptFor = (ms: number | undefined): number | 'forever' | undefined => (ms === LIMITS.durationMs ? 'forever' : ms)

const DELAY = { kind: { type: 'duration', min: 0 } } as const

/** The parts of a backoff; a number or a word has no kind. */
export const BACKOFF_FIELDS: Readonly<Record<keyof BackoffOptions, Pick<Setting, 'kind'>>> = {
  type: {},
  delay: DELAY,
  factor: {},
  maxDelay: DELAY,
  jitter: {},
}

const backoff = (name: keyof BackoffOptions): Setting => ({
  ...BACKOFF_FIELDS[name],
  isDefault: true,
  change: (value, view) => {
    const { [name]: _former, ...rest } = view?.settings.defaults?.backoff ?? DEFAULT_POLICY.backoff
    const changed = { ...rest, ...(value === null ? presetOf(name) : { [name]: value }) } as Record<string, unknown>
    // A factor is of exponential backoff alone.
    if (name === 'type' && value !== 'exponential') delete changed['factor']
    return defaultsWith(view, { backoff: changed })
  },
  read: ({ settings }) => settings.defaults?.backoff?.[name],
})

const retention = (state: Finished): Setting => ({
  kind: RETENTION.kind.fields[state].kind,
  change: (value, view) => {
    const { [state]: _former, ...others } = keepsOf(view)
    const kept = { ...others, ...(value !== null && { [state]: value }) } as Keeps
    return { retention: Object.keys(kept).length === 0 ? null : kept }
  },
  read: ({ settings }) => keptFor(settings.retention?.[state]?.ageMs),
})

const keyed = <Name extends string>(names: readonly Name[], prefix: string, setting: (name: Name) => Setting) =>
  Object.fromEntries(names.map((name) => [`${prefix}${flagName(name)}`, setting(name)]))

const SETTINGS: Readonly<Record<string, Setting>> = {
  ...keyed(Object.keys(LIMITING) as (keyof typeof LIMITING)[], '', limit),
  ...keyed(Object.keys(RUN) as Run[], '', run),
  ...keyed(Object.keys(BACKOFF_FIELDS) as (keyof BackoffOptions)[], 'backoff.', backoff),
  ...keyed(Object.keys(RETENTION.kind.fields) as Finished[], 'retention.', retention),
}

const PAUSED = 'paused'

export const SETTING_KEYS: readonly string[] = [...Object.keys(SETTINGS), PAUSED]

/**
 * Changes a setting of a queue; resolves when it is in force. Null takes it away. Two changes of one queue at the same moment may undo one
 * another where both are of its backoff, its retention or its jobs' defaults: make one after the other.
 *
 * @throws OptionTypeError, OptionRangeError
 */
export async function setSetting(engine: Engine, key: string, value: unknown, { queue = 'default' }: QueueOption = {}): Promise<void> {
  checkKey(key)
  if (key === PAUSED) return pause(engine, value, queue)
  const view = await engine.queues.get(queue)
  await engine.queues.configure(queue, (SETTINGS[key] as Setting).change(value, view))
}

/** Returns the kind of a setting's values; undefined for a number or a word. @throws OptionTypeError */
export function kindOf(key: string): Kind | undefined {
  checkKey(key)
  return SETTINGS[key]?.kind
}

/** True if a setting applies to jobs for which neither a call nor a definition states it. */
export function isDefault(key: string): boolean {
  return SETTINGS[key]?.isDefault === true
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
  return key === PAUSED ? view.paused : (SETTINGS[key] as Setting).read(view)
}

async function pause(engine: Engine, value: unknown, queue: string): Promise<void> {
  const text = String(value ?? false)
  if (text !== 'true' && text !== 'false') throw new OptionTypeError(PAUSED, `paused must be true or false, got ${JSON.stringify(value)}`)
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
  const defaults = defined<object>({ ...view?.settings.defaults, ...changes })
  return { defaults: Object.keys(defaults).length === 0 ? null : defaults }
}

function presetOf(name: keyof BackoffOptions): Partial<BackoffOptions> {
  const { [name]: preset } = DEFAULT_POLICY.backoff
  return preset === undefined ? {} : { [name]: preset }
}
