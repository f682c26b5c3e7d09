/** The form of a schedule: its fields, what is wrong with them, and what they ask of the API. */
import type { ScheduleAnswer } from '../../api/answers.ts'
import { exactSpan } from '../../format/durations.ts'
import { text } from './text.ts'

export interface Form {
  readonly id: string
  readonly kind: 'cron' | 'every'
  readonly cron: string
  readonly every: string
  readonly timezone: string
  readonly job: string
  /** JSON; empty for none. */
  readonly data: string
  readonly options: string
  readonly overlap: string
  readonly catchUp: string
  readonly jitter: string
  readonly startAt: string
  readonly endAt: string
}

export const NEW: Form = {
  ...{ id: '', kind: 'cron', cron: '', every: '', timezone: 'UTC', job: '', data: '', options: '' },
  ...{ overlap: 'skip', catchUp: 'latest', jitter: '', startAt: '', endAt: '' },
}

const durationOf = (ms: number | undefined) => (ms === undefined || ms === 0 ? '' : exactSpan(ms))

export function formOf(schedule: ScheduleAnswer): Form {
  const { id, cron, every, timezone, job, data, options, overlap, catchUp, jitter, startAt, endAt } = schedule
  return {
    ...{ id, job, overlap, catchUp },
    kind: every === undefined ? 'cron' : 'every',
    cron: cron ?? '',
    every: durationOf(every),
    timezone: timezone ?? 'UTC',
    data: data === undefined ? '' : JSON.stringify(data, null, 2),
    options: Object.keys(options).length === 0 ? '' : JSON.stringify(options, null, 2),
    jitter: durationOf(jitter),
    startAt: startAt ?? '',
    endAt: endAt ?? '',
  }
}

export type FormErrors = Partial<Record<keyof Form, string>>

/** Returns the errors of the fields by their names. Expressions, zones and ranges are the engine's to check. */
export function errorsOf(form: Form): FormErrors {
  const { errors } = text.form
  const times = form.kind === 'cron' ? 'cron' : 'every'
  const found: { -readonly [Name in keyof Form]?: string | undefined } = {
    id: form.id === '' ? errors.needed : undefined,
    job: form.job === '' ? errors.needed : undefined,
    [times]: form[times].trim() === '' ? errors.needed : undefined,
    data: isJson(form.data) ? undefined : errors.json,
    options: isJson(form.options) && /^\s*(?:\{|$)/.test(form.options) ? undefined : errors.object,
  }
  return Object.fromEntries(Object.entries(found).filter(([, error]) => error !== undefined))
}

function isJson(value: string): boolean {
  if (value.trim() === '') return true
  try {
    JSON.parse(value)
    return true
  } catch {
    return false
  }
}

const read = (value: string): unknown => (value.trim() === '' ? undefined : JSON.parse(value))

/** Returns the body that creates the schedule. */
export function createdBy(form: Form): Readonly<Record<string, unknown>> {
  const { id, job, overlap, catchUp, jitter, startAt, endAt } = form
  const given = { jitter, startAt, endAt }
  return {
    ...{ id, job, overlap, catchUp, data: read(form.data) },
    ...timesOf(form),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value.trim() !== '')),
    ...(form.options.trim() !== '' && { options: read(form.options) }),
  }
}

function timesOf({ kind, cron, every, timezone }: Form): Readonly<Record<string, string>> {
  return kind === 'cron' ? { cron: cron.trim(), ...(timezone.trim() !== '' && { timezone: timezone.trim() }) } : { every: every.trim() }
}

/** Returns the body of the change: the fields that differ, so that what others change meanwhile stays. */
export function changedBy(before: Form, after: Form): Readonly<Record<string, unknown>> {
  const isOther = (...names: readonly (keyof Form)[]) => names.some((name) => before[name].trim() !== after[name].trim())
  const same = (['job', 'overlap', 'catchUp'] as const).filter((name) => isOther(name)).map((name) => [name, after[name].trim()])
  const bounds = (['startAt', 'endAt'] as const).filter((name) => isOther(name)).map((name) => [name, after[name].trim() || null])
  return {
    ...Object.fromEntries([...same, ...bounds]),
    ...(isOther('kind', 'cron', 'every', 'timezone') && timesOf(after)),
    ...(isOther('jitter') && { jitter: after.jitter.trim() || 0 }),
    ...(isOther('data') && { data: read(after.data) ?? null }),
    ...(isOther('options') && { options: read(after.options) ?? {} }),
  }
}
