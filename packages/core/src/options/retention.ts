/** The option `retention`: how long finished jobs and the journal are kept. */
import type { Duration } from '../duration.ts'
import { LIMITS } from '../limits.ts'
import { DEFAULT_RETENTION, type Keep, type Retention } from '../retention.ts'
import { integerOption } from './integer.ts'
import { checkKnown } from './known.ts'
import { durationOption, FOREVER, type Forever } from './milliseconds.ts'

/** An age alone, or an age and a number: a job goes as soon as it is past either. 0 keeps none; 'forever' alone is without either bound. */
export type KeepOptions = Duration | Forever | { readonly age?: Duration | Forever; readonly count?: number | Forever }

/** How long finished jobs and events are kept. */
export interface RetentionOptions {
  /** How long completed jobs are kept. Default 7 days and 1,000,000 per queue. */
  readonly completed?: KeepOptions
  /** How long failed jobs are kept. Default 30 days and 1,000,000 per queue. */
  readonly failed?: KeepOptions
  /** How long cancelled jobs are kept. Default 7 days and 1,000,000 per queue. */
  readonly cancelled?: KeepOptions
  /** How long events are kept: an age of 0 to 100 years, or an age and 1 MiB to 1 TiB. Default 7 days and 1 GiB. */
  readonly journal?: Duration | { readonly age?: Duration; readonly bytes?: number }
}

const KNOWN = new Set(['completed', 'failed', 'cancelled', 'journal'])
const KEEP_KNOWN = new Set(['age', 'count'])
const JOURNAL_KNOWN = new Set(['age', 'bytes'])
const COUNT_MAX = 1_000_000_000_000
/** A hundred years: a number, so that files, connections and other languages need no word for it. */
const KEPT_FOREVER: Keep = { ageMs: LIMITS.durationMs, count: COUNT_MAX }
const JOURNAL_BYTES_MIN = 2 ** 20
const JOURNAL_BYTES_MAX = 2 ** 40

export function retentionOption(option: string, value: unknown): Retention {
  if (value === undefined) return DEFAULT_RETENTION
  checkKnown(option, value, KNOWN)
  return {
    completed: keepOption(`${option}.completed`, value['completed'], DEFAULT_RETENTION.completed),
    failed: keepOption(`${option}.failed`, value['failed'], DEFAULT_RETENTION.failed),
    cancelled: keepOption(`${option}.cancelled`, value['cancelled'], DEFAULT_RETENTION.cancelled),
    journal: journalOption(`${option}.journal`, value['journal'], DEFAULT_RETENTION.journal),
  }
}

export function keepOption(option: string, value: unknown, keep: Keep): Keep {
  if (value === undefined) return keep
  if (value === FOREVER) return KEPT_FOREVER
  if (!hasAny(value, KEEP_KNOWN)) return { ageMs: durationOption(option, value, { forever: true }), count: keep.count }
  checkKnown(option, value, KEEP_KNOWN)
  const { age, count } = value
  return {
    ageMs: age === undefined ? keep.ageMs : durationOption(`${option}.age`, age, { forever: true }),
    count: count === undefined ? keep.count : count === FOREVER ? COUNT_MAX : integerOption(`${option}.count`, count, 0, COUNT_MAX),
  }
}

function journalOption(option: string, value: unknown, keep: Retention['journal']): Retention['journal'] {
  if (value === undefined) return keep
  if (!hasAny(value, JOURNAL_KNOWN)) return { ageMs: durationOption(option, value), bytes: keep.bytes }
  checkKnown(option, value, JOURNAL_KNOWN)
  const { age, bytes } = value
  return {
    ageMs: age === undefined ? keep.ageMs : durationOption(`${option}.age`, age),
    bytes: bytes === undefined ? keep.bytes : integerOption(`${option}.bytes`, bytes, JOURNAL_BYTES_MIN, JOURNAL_BYTES_MAX),
  }
}

/** Tells `{ age: '1d' }` from the duration `{ days: 1 }`. */
function hasAny(value: unknown, names: ReadonlySet<string>): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).some((name) => names.has(name))
}
