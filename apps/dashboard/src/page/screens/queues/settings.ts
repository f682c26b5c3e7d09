/** The settings of a queue as fields of a form, and the changes that the fields ask for. */
import type { QueueAnswer } from '../../api/answers.ts'
import { exactSpan, FOREVER_MS } from '../../format/durations.ts'
import { count } from '../../format/numbers.ts'
import { text } from './text.ts'

export type Settings = QueueAnswer['settings']

export interface Setting {
  /** Its place in the body: "rateLimit.period". */
  readonly path: string
  readonly label: string
  readonly kind: 'count' | 'duration' | 'fraction' | 'choice' | 'name' | 'json'
  readonly choices?: readonly (readonly [value: string, text: string])[]
  /** The value that holds while the field is empty. */
  readonly preset: string
  readonly hint?: string
  /** The field without which this one means nothing. */
  readonly needs?: string
  /** The field that this one requires. */
  readonly wants?: string
  /** The word for no bound, which JSON says as null. */
  readonly endless?: string
}

export interface Group {
  readonly title: string
  /** Fields that stand side by side; default 2. */
  readonly columns?: 3
  readonly settings: readonly Setting[]
}

const choice = (path: string, label: string, preset: string, values: readonly string[]): Setting => ({
  ...{ path, label, kind: 'choice', preset },
  choices: [['', `${preset} (${text.settings.unset})`], ...values.map((value): readonly [string, string] => [value, value])],
})

const rateOf = (path: string, label: string): readonly Setting[] => [
  { path: `${path}.limit`, label, kind: 'count', preset: 'no limit' },
  { path: `${path}.period`, label: 'per', kind: 'duration', preset: '1s', needs: `${path}.limit` },
  { path: `${path}.burst`, label: 'burst', kind: 'count', preset: 'limit', needs: `${path}.limit` },
]

const keptOf = (state: string, label: string, days: number): readonly Setting[] => [
  { path: `retention.${state}.age`, label: `${label}, for`, kind: 'duration', preset: `${days}d`, endless: 'forever' },
  { path: `retention.${state}.count`, label: 'and at most, jobs', kind: 'count', preset: '1,000,000', endless: 'forever' },
]

export const GROUPS: readonly Group[] = [
  {
    title: 'Limits',
    settings: [
      { path: 'concurrencyLimit', label: 'Jobs at a time', kind: 'count', preset: 'no limit', hint: 'over all workers' },
      { path: 'perKeyLimit', label: 'Jobs of each key', kind: 'count', preset: 'no limit', hint: 'keys then take turns' },
      { path: 'sharedLimit.name', label: 'Limit shared by name', kind: 'name', preset: 'none', wants: 'sharedLimit.limit' },
      { path: 'sharedLimit.limit', label: 'Jobs of all its queues', kind: 'count', preset: 'no limit', needs: 'sharedLimit.name' },
      { path: 'maxLength', label: 'Jobs yet to start', kind: 'count', preset: 'no limit' },
      { ...choice('onFull', 'When it is full', 'reject', ['drop-oldest']), needs: 'maxLength' },
      { path: 'keyTiers', label: 'Tiers of keys', kind: 'json', preset: 'none', hint: 'such as {"gold": {"perKeyLimit": 10}}' },
      {
        path: 'alertAfter',
        label: 'Late after',
        kind: 'duration',
        preset: '10 × usual wait',
        hint: 'a problem if its oldest job waits longer',
      },
    ],
  },
  { title: 'Rates', columns: 3, settings: [...rateOf('rateLimit', 'Starts'), ...rateOf('perKeyRateLimit', 'Starts of a key')] },
  {
    title: 'Order',
    settings: [
      choice('keyOrder', 'Order of a key', 'turns', ['strict']),
      choice('fairness', 'Job names take turns', 'none', ['name']),
      choice('repeats', 'Repeated calls', 'silent', ['event']),
      choice('empties', 'Queue runs empty', 'silent', ['event']),
      { path: 'share', label: 'Hand-outs in a row', kind: 'count', preset: '1', hint: 'jobs, before the next queue' },
    ],
  },
  {
    title: 'Retention',
    settings: [
      ...keptOf('completed', 'Completed', 7),
      ...keptOf('failed', 'Failed', 30),
      ...keptOf('cancelled', 'Cancelled', 7),
      { path: 'deadLetter', label: 'Queue of dead letters', kind: 'name', preset: 'none', hint: 'gets a job for each that fails' },
    ],
  },
  {
    title: 'Defaults of its jobs',
    settings: [
      { path: 'defaults.maxAttempts', label: 'Attempts', kind: 'count', preset: '4' },
      { path: 'defaults.maxLost', label: 'Lost workers', kind: 'count', preset: 'use attempts' },
      { path: 'defaults.timeout', label: 'Timeout', kind: 'duration', preset: '5m', endless: 'none' },
      { path: 'defaults.heartbeatTimeout', label: 'Heartbeat timeout', kind: 'duration', preset: '2m' },
      { path: 'defaults.ttl', label: 'Start within', kind: 'duration', preset: 'no limit', endless: 'none' },
      { path: 'defaults.maxAge', label: 'No retry after', kind: 'duration', preset: 'no limit' },
      { path: 'defaults.keep', label: 'Keep after its end', kind: 'duration', preset: 'by retention', endless: 'forever' },
      { path: 'defaults.priority', label: 'Priority', kind: 'count', preset: '0' },
      { path: 'defaults.weight', label: 'Weight', kind: 'count', preset: '1' },
      { path: 'defaults.logLines', label: 'Log lines of a run', kind: 'count', preset: '100' },
      { path: 'defaults.tokens', label: 'Tokens of a rate', kind: 'count', preset: '1' },
      { ...choice('defaults.backoff.type', 'Backoff', 'exponential', ['exponential', 'linear', 'fixed']), wants: 'defaults.backoff.delay' },
      { path: 'defaults.backoff.delay', label: 'Delay', kind: 'duration', preset: '20s', needs: 'defaults.backoff.type' },
      { path: 'defaults.backoff.factor', label: 'Factor', kind: 'fraction', preset: '2', needs: 'defaults.backoff.type' },
      { path: 'defaults.backoff.maxDelay', label: 'Longest delay', kind: 'duration', preset: '1h', needs: 'defaults.backoff.type' },
      { path: 'defaults.backoff.jitter', label: 'Jitter', kind: 'fraction', preset: '0.2', needs: 'defaults.backoff.type' },
    ],
  },
]

const SETTINGS = GROUPS.flatMap(({ settings }) => settings)
/** The numbers by which the engine means "forever". */
const FOREVER: Readonly<Record<string, number>> = { age: FOREVER_MS, keep: FOREVER_MS, count: 1_000_000_000_000 }

/** The text of each field that is set, by its path. */
export type Fields = Readonly<Record<string, string>>

export function fieldsOf(settings: Settings): Fields {
  const pairs = SETTINGS.map((setting) => [setting.path, shown(setting, stored(settings, setting.path))] as const)
  return Object.fromEntries(pairs.filter(([, value]) => value !== ''))
}

/** Returns the value that is stored at a path. An age of retention is named `ageMs` there. */
function stored(settings: Settings, path: string): unknown {
  const parts = path.startsWith('retention.') ? path.replace(/\.age$/, '.ageMs').split('.') : path.split('.')
  return parts.reduce<unknown>((value, part) => (value as Readonly<Record<string, unknown>> | null | undefined)?.[part], settings)
}

function shown({ path, kind, endless }: Setting, value: unknown): string {
  if (value === undefined) return ''
  if (value === null) return endless ?? ''
  if (endless === 'forever' && value === FOREVER[path.split('.').at(-1) as string]) return endless
  if (kind === 'json') return JSON.stringify(value)
  return kind === 'duration' ? exactSpan(value as number) : `${value}`
}

/** Returns the faults of the fields, by their paths. Ranges are the engine's to check. */
export function errorsOf(fields: Fields): Readonly<Record<string, string>> {
  const pairs = SETTINGS.map((setting) => [setting.path, errorOf(setting, fields)] as const)
  return Object.fromEntries(pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined))
}

const READ: Readonly<Record<Exclude<Setting['kind'], 'json'>, RegExp>> = {
  count: /^-?\d{1,15}$/,
  duration: /^\d+(?:\.\d+)? ?(?:ms|s|m|h|d|w)?$/,
  fraction: /^(?:\d+(?:\.\d+)?|equal|full)$/,
  choice: /^[\w-]+$/,
  name: /^[\w.:/-]{1,128}$/,
}

function errorOf({ path, kind, endless, needs, wants }: Setting, fields: Fields): string | undefined {
  const value = kind === 'json' ? (fields[path] ?? '').trim() : cleaned(fields[path])
  if (value === '') return undefined
  if (needs !== undefined && cleaned(fields[needs]) === '') return text.settings.needs(labelOf(needs))
  if (wants !== undefined && cleaned(fields[wants]) === '') return text.settings.needs(labelOf(wants))
  if (value === endless || isReadable(kind, value)) return undefined
  return text.settings.wrong(value, text.settings.not[kind as 'count'] + (endless === undefined ? '' : `, or ${endless}`))
}

function isReadable(kind: Setting['kind'], value: string): boolean {
  return kind === 'json' ? objectOf(value) !== undefined : READ[kind].test(value)
}

/** Returns the object that a text has as JSON; undefined if it has none. */
function objectOf(value: string): object | undefined {
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

const labelOf = (path: string) => SETTINGS.find((setting) => setting.path === path)?.label ?? path

/** Thousands may be apart, as the page itself writes them. */
function cleaned(value: string | undefined): string {
  return (value ?? '').trim().replaceAll(/(?<=\d)[,\s](?=\d{3})/g, '')
}

/** Returns the body of the change: each setting of which a field differs, as a whole; null takes it away. */
export function changesOf(before: Fields, after: Fields): Readonly<Record<string, unknown>> {
  const isOther = (setting: Setting) => written(setting, before) !== written(setting, after)
  const changed = new Set(SETTINGS.filter(isOther).map(({ path }) => topOf(path)))
  return Object.fromEntries([...changed].map((top) => [top, bodyOf(top, after)]))
}

/** Spaces in JSON change nothing, and thousands in it may not be apart. */
function written({ path, kind }: Setting, fields: Fields): string {
  if (kind !== 'json') return cleaned(fields[path])
  const value = (fields[path] ?? '').trim()
  return JSON.stringify(objectOf(value)) ?? value
}

const topOf = (path: string) => path.split('.')[0] as string

function bodyOf(top: string, fields: Fields): unknown {
  const given = SETTINGS.filter(({ path }) => topOf(path) === top && cleaned(fields[path]) !== '')
  if (given.length === 0) return null
  if (given[0]?.path === top) return sent(given[0], written(given[0], fields))
  const body: Record<string, unknown> = {}
  for (const setting of given) put(body, setting.path.split('.').slice(1), sent(setting, cleaned(fields[setting.path])))
  return body
}

function put(body: Record<string, unknown>, [part, ...rest]: readonly string[], value: unknown): void {
  if (part === undefined) return
  if (rest.length === 0) {
    body[part] = value
    return
  }
  body[part] ??= {}
  put(body[part] as Record<string, unknown>, rest, value)
}

function sent({ kind, endless }: Setting, value: string): unknown {
  if (value === endless) return endless === 'none' ? null : value
  if (kind === 'json') return objectOf(value) ?? value
  if (kind === 'choice' || kind === 'name') return value
  return /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value
}

/** A value for those who may not change it. */
export function said({ path, kind }: Setting, fields: Fields): string {
  const value = fields[path] ?? ''
  return kind === 'count' && /^-?\d+$/.test(value) ? count(Number(value)) : value
}
