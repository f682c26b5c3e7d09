/** Translates a document of Agenda. */
import type { EnqueueOptions, ScheduleOptions } from '@millrace/core'
import { UnfitError } from '../errors.ts'
import { priorityOf, scheduleId } from '../mapping.ts'
import { ACTIVE_LEFT, type Found, type Outcome } from '../source.ts'
import { unlessUnfit } from '../unfit.ts'

/** Names each feature of Agenda that a job may use, and what becomes of it. docs/import.md has the same table. */
export const FEATURES = {
  nextRunAt: 'The job keeps its time.',
  priority: 'The same: higher ones start first.',
  'repeatInterval as cron': 'A schedule with that cron expression and time zone.',
  'repeatInterval as words or a number': 'A schedule with `every`, from the next run on.',
  repeatAt: 'Not imported, because it is in words: create a schedule with cron.',
  'startDate, endDate': 'The same bounds of the schedule.',
  unique: 'Not imported: use `unique` for new jobs.',
} as const

type Uses = Set<keyof typeof FEATURES>

/** A document of the collection: the fields that are read here. */
export interface AgendaDocument {
  readonly _id: { toString(): string }
  readonly name: string
  readonly type?: string
  readonly priority?: number
  readonly data?: unknown
  readonly nextRunAt?: Date | null
  readonly lockedAt?: Date | null | undefined
  readonly disabled?: boolean | null
  readonly repeatInterval?: string | number | null
  readonly repeatTimezone?: string | null
  readonly repeatAt?: string | null
  readonly startDate?: Date | null
  readonly endDate?: Date | null
  readonly skipDays?: readonly number[] | null
  readonly unique?: unknown
}

export type AgendaState = 'queued' | 'scheduled' | 'running' | 'repeating' | 'ended'

/** Returns the state of a document. A lock without an end is that of a worker, however old: its age limit is in the code of Agenda. */
export function stateOf({ lockedAt, nextRunAt, repeatInterval, repeatAt }: AgendaDocument, now: number): AgendaState {
  if (isSet(repeatInterval) || isSet(repeatAt)) return 'repeating'
  if (isSet(lockedAt)) return 'running'
  if (!isSet(nextRunAt)) return 'ended'
  return Number(nextRunAt) > now ? 'scheduled' : 'queued'
}

export function agendaFound(document: AgendaDocument, now: number, includeActive: boolean): Found {
  const { _id, name } = document
  const state = stateOf(document, now)
  const uses: Uses = new Set()
  const outcome = unlessUnfit(() => outcomeOf(document, state, now, includeActive, uses))
  return { queue: name, state, id: String(_id), uses: [...uses], outcome }
}

function outcomeOf(document: AgendaDocument, state: AgendaState, now: number, includeActive: boolean, uses: Uses): Outcome {
  const { _id, name, type, data, nextRunAt, disabled, unique } = document
  if (state === 'ended') return { as: 'left', why: 'it has ended' }
  if (state === 'running' && !includeActive) return { as: 'left', why: ACTIVE_LEFT }
  if (state !== 'repeating' && disabled === true) return { as: 'left', why: 'it is disabled' }
  if (isSet(unique)) uses.add('unique')
  const options: EnqueueOptions = { maxAttempts: 1, timeout: Number.POSITIVE_INFINITY, ...priorityOption(document, uses) }
  const job = { job: name, data: data ?? undefined, options }
  if (state === 'repeating') {
    const due = isSet(nextRunAt) && Number(nextRunAt) <= now && disabled !== true
    const id = scheduleId(name, type === 'single' ? '' : String(_id))
    return { as: 'schedule', id, options: { ...timesOf(document, uses), ...(due && { runImmediately: true }) }, job }
  }
  if (state !== 'scheduled') return { as: 'job', job }
  uses.add('nextRunAt')
  return { as: 'job', job: { ...job, options: { ...options, runAt: nextRunAt as Date } } }
}

function timesOf(document: AgendaDocument, uses: Uses): ScheduleOptions {
  const { repeatInterval, repeatTimezone, repeatAt, nextRunAt, startDate, endDate, skipDays, disabled } = document
  if (isSet(repeatAt) && !isSet(repeatInterval))
    throw new UnfitError(`it repeats at '${repeatAt}', which is in words: create a schedule with cron`)
  if (isSet(skipDays) && skipDays.length > 0)
    throw new UnfitError('it skips days of the week: create a schedule with a cron that names the others')
  if (isSet(startDate) || isSet(endDate)) uses.add('startDate, endDate')
  const bounds = { ...(isSet(endDate) && { endAt: endDate }), ...(disabled === true && { paused: true }) }
  const every = intervalOf(repeatInterval as string | number)
  if (every === undefined) {
    uses.add('repeatInterval as cron')
    const cron = { cron: repeatInterval as string, timezone: repeatTimezone ?? 'UTC' }
    return { ...cron, ...(isSet(startDate) && { startAt: startDate }), ...bounds }
  }
  uses.add('repeatInterval as words or a number')
  const startAt = nextRunAt ?? startDate
  return { every, ...(isSet(startAt) && { startAt }), ...bounds }
}

const UNITS: Readonly<Record<string, number>> = {
  ...{ second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000, month: 2_592_000_000, year: 31_536_000_000 },
}
const PART = /^\s*(?:(\d+(?:\.\d+)?|an?|one)\s*)?(second|minute|hour|day|week|month|year)s?\b(?:\s*(?:,|and))?/

/** Returns an interval in ms, as `90000`, `3 minutes` or `1 hour and 30 minutes` say it; undefined for a cron expression. */
export function intervalOf(interval: string | number): number | undefined {
  if (typeof interval === 'number') return interval
  let rest = interval.trim()
  if (/^\d+(?:\.\d+)?$/.test(rest)) return Number(rest)
  if (!/second|minute|hour|day|week|month|year/.test(rest)) return undefined
  let ms = 0
  while (rest !== '') {
    const [part, number = '1', unit = ''] = PART.exec(rest) ?? []
    if (part === undefined) throw new UnfitError(`its interval cannot be read: '${interval}'`)
    ms += (Number(number) || 1) * (UNITS[unit] as number)
    rest = rest.slice(part.length).trim()
  }
  return Math.round(ms)
}

function priorityOption({ priority: number = 0 }: AgendaDocument, uses: Uses): EnqueueOptions {
  if (number === 0) return {}
  uses.add('priority')
  return { priority: priorityOf(Math.trunc(number)).priority }
}

function isSet<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined
}
