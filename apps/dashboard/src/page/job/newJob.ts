/** The form of a job to enqueue: a new one, or a copy of another with its data. Numbers in data keep the digits that were typed. */
import type { JobAnswer } from '../api/answers.ts'
import { own } from '../api/own.ts'
import type { ApiError } from '../api/problem.ts'
import { RawJson } from '../api/rawJson.ts'
import { exactSpan } from '../format/durations.ts'
import { escaped } from '../format/escaped.ts'
import { parseJson } from '../parts/json/parse.ts'
import { writeJson } from '../parts/json/write.ts'
import { NEW_JOB_TEXT as text } from './newJobText.ts'

/** Options that have a field, by their names in the API. */
export const OPTIONS = ['queue', 'delay', 'priority', 'concurrencyKey', 'tags', 'maxAttempts', 'timeout'] as const
type Option = (typeof OPTIONS)[number]

/** Options that a copy has as the job has them. Keys that only one job may have are not among them. */
const OTHERS = ['summary', 'weight', 'tokens', 'backoff', 'heartbeatTimeout', 'maxAge', 'maxLost', 'keep', 'logLines'] as const

/** The text of each field, by the names of the API. */
export type Fields = Readonly<Record<Option | 'job' | 'data', string>>
export type FieldName = keyof Fields

export interface Draft {
  readonly fields: Fields
  /** The options that fields stand for as long as nobody edits them, and those that have no field. */
  readonly options: Readonly<Record<string, unknown>>
}

const EMPTY: Fields = {
  ...{ job: '', data: '', queue: '', delay: '', priority: '' },
  ...{ concurrencyKey: '', tags: '', maxAttempts: '', timeout: '' },
}

/** Returns the form of a new job, with what is known of it. */
export function draftOf(known: Partial<Fields>): Draft {
  const fields = { ...EMPTY, ...known }
  return { fields, options: editedIn(EMPTY, fields) }
}

/** Returns the form of a copy, or why there is none. */
export function copyOf(job: JobAnswer): Draft | { readonly refusal: string } {
  const data = editable(job)
  if ('refusal' in data) return data
  const known = job as Readonly<Record<string, unknown>>
  // Null is JSON's word for no limit, which only some options take.
  const isGiven = (name: string) => own(known, name) !== undefined && (own(known, name) !== null || name === 'timeout')
  const given = [...OPTIONS, ...OTHERS].filter(isGiven).map((name) => [name, own(known, name)] as const)
  const meta = typeof job.meta === 'object' && job.meta !== null ? job.meta : {}
  const fields = given.filter(([name]) => name in EMPTY).map(([name, value]) => [name, shown(name, value)])
  return {
    fields: { ...EMPTY, job: job.name, data: data.source, delay: timeOf(job).runAt ?? '', ...Object.fromEntries(fields) },
    options: { ...Object.fromEntries(given), ...timeOf(job), meta: { ...meta, copyOf: job.id } },
  }
}

/** A copy of a job that is yet to be due is due at the same time. A job between two attempts has had its time. */
function timeOf({ state, run, runAt }: JobAnswer): { readonly runAt?: string } {
  return state === 'scheduled' && run === 0 ? { runAt } : {}
}

function shown(name: string, value: unknown): string {
  if (value === null) return text.none
  if (Array.isArray(value)) return value.map(quotedTag).join(', ')
  return name === 'timeout' ? exactSpan(value as number) : `${value}`
}

function editable({ preview, redacted }: JobAnswer): { readonly source: string } | { readonly refusal: string } {
  const data = preview?.data
  if (data === undefined) return { source: '' }
  if (redacted?.includes('data')) return { refusal: text.redacted }
  if (data.binary) return { refusal: text.binary }
  if (data.cut || data.text === undefined) return { refusal: text.large }
  const node = parseJson(data.text)
  return node === undefined ? { refusal: text.binary } : { source: escaped(writeJson(node)) }
}

export type FieldErrors = Readonly<Partial<Record<FieldName, string>>>

/** Returns what is wrong before anything is sent. Names and ranges are the engine's to check. */
export function faultsOf({ data }: Fields): FieldErrors {
  try {
    if (data.trim() !== '') JSON.parse(data)
    return {}
  } catch (error) {
    return { data: text.invalid((error as Error).message) }
  }
}

/** Returns the errors that the API names by the fields that they are of. */
export function refusalsOf({ faults }: ApiError): FieldErrors {
  const named = faults.map(({ path, message }) => [/^body\.(?:options\.)?(\w+)/.exec(path)?.[1] ?? '', message] as const)
  const errors = Object.fromEntries(named)
  const { runAt = errors['delay'], ...others } = errors
  return Object.fromEntries(Object.entries({ ...others, ...(runAt !== undefined && { delay: runAt }) }).filter(([name]) => name in EMPTY))
}

/** The request: what was edited, and the rest as it was. */
export function requestOf({ fields: before, options }: Draft, fields: Fields): RawJson {
  const json = JSON.stringify({ ...options, ...editedIn(before, fields) })
  const data = fields.data.trim() === '' ? '' : `,"data":${fields.data}`
  return new RawJson(`{"job":${JSON.stringify(fields.job.trim())}${data},"options":${json}}`)
}

/** The options whose fields differ. */
function editedIn(before: Fields, after: Fields): Readonly<Record<string, unknown>> {
  const edited = OPTIONS.filter((name) => after[name] !== before[name])
  return Object.fromEntries(
    edited.flatMap((name) => (name === 'delay' ? due(after.delay.trim()) : [[name, sent(name, after[name].trim())]])),
  )
}

/** A time in place of a duration is one that the job is due at. Only one of both is sent. */
function due(value: string): readonly (readonly [name: string, value: unknown])[] {
  const isTime = /^\d{4}-\d{2}-\d{2}/.test(value)
  return [
    ['runAt', isTime ? value : undefined],
    ['delay', isTime || value === '' ? undefined : value],
  ]
}

/** A tag with a comma, or that begins with a quotation mark, stands in quotation marks. */
function quotedTag(tag: string): string {
  return /[,"\\]|^\s|\s$/.test(tag) ? `"${tag.replaceAll(/["\\]/g, '\\$&')}"` : tag
}

function tagsOf(value: string): readonly string[] {
  const parts = value.match(/"(?:[^"\\]|\\.)*"|[^,]+/g) ?? []
  const tags = parts.map((part) => part.trim()).filter((part) => part !== '')
  return tags.map((tag) => (/^".*"$/s.test(tag) && tag.length > 1 ? tag.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : tag))
}

/** An empty field is no option, which JSON leaves out. */
function sent(name: Option, value: string): unknown {
  if (value === '') return undefined
  if (name === 'tags') return tagsOf(value)
  if (name === 'timeout' && value === text.none) return null
  return (name === 'priority' || name === 'maxAttempts') && /^-?\d+$/.test(value) ? Number(value) : value
}
