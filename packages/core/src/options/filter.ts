/**
 * The table of fields that select jobs, the same for `list` and for bulk calls. A field is a row here, a property with its
 * documentation, and how a store judges it. Its check, its place on the wire, its HTTP parameter, its command-line flag and their
 * documentation derive from the row.
 */
import { OptionTypeError } from '../errors.ts'
import { parseFingerprint } from '../fingerprint.ts'
import type { JobKey } from '../id.ts'
import { STATES, type State, type StateCode } from '../lifecycle.ts'
import { booleanOption, choiceOption } from './choice.ts'
import { containedOption } from './contained.ts'
import { describe } from './describe.ts'
import { idOption } from './id.ts'
import { type Time, timeOption } from './milliseconds.ts'
import { nameOption } from './name.ts'
import { textOption } from './text.ts'

/** A job fits if all that is given holds. */
export interface JobFilter {
  /** Only jobs in this state, or in one of these. Default: all states. */
  readonly state?: State | readonly State[]
  /** Only jobs of this queue. Default: all queues. */
  readonly queue?: string
  /** Only jobs of this name. Default: all names. */
  readonly name?: string
  /** Only jobs with this tag. Default: any tags. */
  readonly tag?: string
  /** Only jobs with this concurrency key. Default: any. */
  readonly key?: string
  /** Only jobs that this schedule has created, by its id. Default: all jobs. */
  readonly schedule?: string
  /** Only jobs of this flow, by the flow's id: that of its first job. Default: all jobs. */
  readonly flow?: string
  /** True: only scheduled jobs that wait between two attempts. False: all but those. Default: all jobs. */
  readonly retrying?: boolean
  /** Only jobs enqueued at this time or later. Default: any time. */
  readonly enqueuedAfter?: Time
  /** Only jobs enqueued before this time. Default: any time. */
  readonly enqueuedBefore?: Time
  /** Only jobs that finished at this time or later. Default: any time, or never. */
  readonly finishedAfter?: Time
  /** Only jobs that finished before this time. Default: any time, or never. */
  readonly finishedBefore?: Time
  /** Only jobs whose run that is active, or else was last, is of this worker, by its id. Default: any. */
  readonly worker?: string
  /** Only jobs whose last run failed with an error of this name. Default: any, or none. */
  readonly error?: string
  /** Only jobs whose last run failed with an error of this kind, as `failures` names it: 14 hexadecimal digits. Default: any, or none. */
  readonly fingerprint?: string
  /**
   * Only jobs whose data contains this JSON: `{ customer: 7 }` finds `{ customer: 7, total: 12 }`. Objects contain objects with fewer
   * properties, arrays contain arrays of some of their items, as with `@>` of Postgres. At most 1,024 characters of JSON. It looks at one
   * job after the other. Default: any data.
   */
  readonly data?: unknown
  /** The same of `meta`. Default: any meta. */
  readonly meta?: unknown
}

/** The values that a field takes. */
export type FilterKind = 'state' | 'states' | 'name' | 'text' | 'boolean' | 'time' | 'fingerprint' | 'json' | 'job'

export interface FilterRow {
  readonly kind: FilterKind
  /** Describes the jobs that fit, after "jobs": a phrase without its full stop. */
  readonly says: string
  /** The option that sets the field, if it has another name. */
  readonly option?: FilterOption
}

export type FilterOption = keyof JobFilter
export type FilterField = FilterOption | 'states'
/** The values that an option takes. */
export type FilterOptionKind = Exclude<FilterKind, 'states'>

/** The fields, in their order on the wire: new ones come last. */
export const FILTER_FIELDS = {
  state: { kind: 'state', says: 'in this state' },
  queue: { kind: 'name', says: 'in this queue' },
  name: { kind: 'name', says: 'with this name' },
  tag: { kind: 'text', says: 'with this tag' },
  key: { kind: 'text', says: 'with this concurrency key' },
  schedule: { kind: 'name', says: 'created by this schedule' },
  retrying: { kind: 'boolean', says: 'that wait between two attempts, or all others' },
  enqueuedAfter: { kind: 'time', says: 'enqueued at this time or later' },
  enqueuedBefore: { kind: 'time', says: 'enqueued before this time' },
  finishedAfter: { kind: 'time', says: 'that finished at this time or later' },
  finishedBefore: { kind: 'time', says: 'that finished before this time' },
  worker: { kind: 'text', says: 'that this worker runs, or has run last' },
  error: { kind: 'text', says: 'whose last run failed with an error of this name' },
  fingerprint: { kind: 'fingerprint', says: 'whose last run failed with this fingerprint, as failures() returns it' },
  states: { kind: 'states', says: 'in one of these states', option: 'state' },
  data: { kind: 'json', says: 'whose data contains this JSON' },
  meta: { kind: 'json', says: 'whose meta contains this JSON' },
  flow: { kind: 'job', says: 'of the flow with this id' },
} as const satisfies Record<FilterField, FilterRow>

export const FILTER_NAMES = Object.keys(FILTER_FIELDS) as FilterField[]

/** The fields that are options of their own. */
export const FILTER_OPTIONS = FILTER_NAMES.filter((name): name is FilterOption => !('option' in FILTER_FIELDS[name]))

type ValueOf<Kind extends FilterKind> = {
  readonly state: StateCode
  readonly states: readonly StateCode[]
  readonly name: string
  readonly text: string
  readonly boolean: boolean
  readonly time: number
  readonly fingerprint: number
  readonly json: string
  readonly job: JobKey
}[Kind]

/** The same, checked: only what was set, times in milliseconds since 1970, JSON as text. */
export type ListFilter = { readonly [Name in FilterField]?: ValueOf<(typeof FILTER_FIELDS)[Name]['kind']> }

type Check = (option: string, value: unknown) => unknown

const CHECKS: { readonly [Kind in FilterKind]: Check } = {
  state: stateOption,
  states: statesOption,
  name: nameOption,
  text: textOption,
  boolean: booleanOption,
  time: timeOption,
  fingerprint: fingerprintOption,
  json: containedOption,
  job: idOption,
}

/** Reads the fields of this table, leaving out what is not set. Throws OptionTypeError, OptionRangeError. */
export function readFilter(options: Readonly<Record<string, unknown>>): ListFilter {
  const filter: Record<string, unknown> = {}
  for (const name of FILTER_OPTIONS) {
    const value = options[name]
    if (value === undefined) continue
    const field = name === 'state' && Array.isArray(value) ? 'states' : name
    filter[field] = CHECKS[FILTER_FIELDS[field].kind](name, value)
  }
  const { states } = filter as ListFilter
  // One state has a field of its own, and all states are no condition.
  if (states === undefined || (states.length > 1 && states.length < STATES.length)) return filter
  const { states: _states, ...others } = filter
  return states.length === 1 ? { ...others, state: states[0] as StateCode } : others
}

/** Returns the states in which a job may fit; undefined if it may be in any. */
export function statesOf({ state, states }: Pick<ListFilter, 'state' | 'states'>): readonly StateCode[] | undefined {
  if (states === undefined || state === undefined) return states ?? (state === undefined ? undefined : [state])
  return states.filter((each) => each === state)
}

function stateOption(option: string, value: unknown): StateCode {
  return STATES.indexOf(choiceOption(option, value, STATES)) as StateCode
}

/** Returns each state once, in the order of their codes. */
function statesOption(option: string, value: unknown): readonly StateCode[] {
  const states = (value as readonly unknown[]).map((each, index) => stateOption(`${option}[${index}]`, each))
  if (states.length > 0) return [...new Set(states)].sort((a, b) => a - b)
  throw new OptionTypeError(option, `${option} must have at least one state, got an empty array: leave it out for jobs in any state`)
}

function fingerprintOption(option: string, value: unknown): number {
  const fingerprint = typeof value === 'string' ? parseFingerprint(value) : undefined
  if (fingerprint !== undefined) return fingerprint
  throw new OptionTypeError(option, `${option} must be 14 hexadecimal digits, as failures() returns it, got ${describe(value)}`)
}

/** True if a job's last run decides, which a walk through the jobs has to look up. */
export function isOfLastRun({ worker, error, fingerprint }: ListFilter): boolean {
  return worker !== undefined || error !== undefined || fingerprint !== undefined
}

/** The number of fields by which an index finds jobs. */
const INDEXED_FIELDS = 4

/** True if a filter has a field by which no index finds jobs. */
export function isNarrowed(filter: ListFilter): boolean {
  return FILTER_NAMES.some((name, place) => place >= INDEXED_FIELDS && filter[name] !== undefined)
}
