/**
 * Table `job`, as SQLite has it. A payload is text or bytes, which are two columns here: the bytes stand behind the others. So that most
 * updates touch no index, no column that changes is in one: `places.ts` has what an index would.
 */
import { PAYLOADS } from '@millrace/core'
import type { Job, JobRow } from '@millrace/core/kernel'
import {
  COLUMNS,
  cutRow,
  isPayload,
  type RawRow,
  ROW_COLUMNS,
  ROW_COLUMNS_WITHOUT_DATA,
  ROW_WIDTH,
  rowFrom,
  type SqlValue,
} from '@millrace/sql'
import { bytesOf, textOf } from './payload.ts'

const TEXTS: ReadonlySet<string> = new Set(['policy', 'extras', 'progress'])
const COLUMN_NAMES = COLUMNS.map(({ name }) => name)
/** The payloads in the order of their columns. */
const PAYLOAD_NAMES = COLUMN_NAMES.filter((name) => PAYLOADS.some((payload) => payload === name))
const bytesName = (name: string) => `${name}_bytes`

/** The columns to select first, from a table called `job`. */
export const JOB_ROW = `${ROW_COLUMNS}, ${PAYLOAD_NAMES.map((name) => `job.${bytesName(name)}`).join(', ')}`
/** The same without the payload, which may be a megabyte. */
export const BARE_JOB_ROW = withoutPayload(
  ROW_COLUMNS_WITHOUT_DATA,
  PAYLOAD_NAMES.map((name) => `job.${bytesName(name)}`).join(', '),
  'data',
)
/** The same with neither payload nor output. */
export const CHILD_JOB_ROW = BARE_JOB_ROW.replace('job.output,', 'NULL,').replace('job.output_bytes', 'NULL::bytea')
/** The same with no payload at all. */
export const FLOW_JOB_ROW = CHILD_JOB_ROW.replace('job.checkpoint,', 'NULL,').replace('job.checkpoint_bytes', 'NULL::bytea')
export const JOB_ROW_WIDTH = ROW_WIDTH + PAYLOAD_NAMES.length

/** The same with payloads that are cut to `$1` bytes, and behind them the stored bytes of each of `PAYLOADS`. */
export const CUT_JOB_ROW = `${COLUMN_NAMES.map((name) => (isPayload(name) ? cutText(name) : `job.${name}`)).join(', ')},
${PAYLOAD_NAMES.map((name) => `CASE WHEN $1 > 0 THEN substr(job.${bytesName(name)}, 1, $1::int) END`).join(', ')},
${PAYLOADS.map((name) => `coalesce(octet_length(job.${name}), octet_length(job.${bytesName(name)}))`).join(', ')}`

/** The size of a job's payloads in bytes, which is read from the row's header. */
export const PAYLOAD_BYTES = sizeOf(PAYLOAD_NAMES)
/** The same without its data. */
export const BARE_BYTES = sizeOf(PAYLOAD_NAMES.filter((name) => name !== 'data'))
/** The same of what a child is read with. */
export const CHILD_BYTES = sizeOf(['checkpoint'])

/** Reads a row of `JOB_ROW`. */
export function jobFrom(row: readonly unknown[]): JobRow {
  const raw = [...row] as unknown as RawRow
  for (const [place, name] of PAYLOAD_NAMES.entries()) {
    const column = COLUMN_NAMES.indexOf(name)
    raw[column] ??= raw[ROW_WIDTH + place]
  }
  return rowFrom(raw)
}

/** Reads a row of `CUT_JOB_ROW`. */
export function cutJobFrom(row: readonly unknown[], bytesMax: number): JobRow {
  const [data = null, output = null, checkpoint = null] = row.slice(JOB_ROW_WIDTH) as (number | null)[]
  return cutRow(jobFrom(row), { data, output, checkpoint }, bytesMax)
}

/** A column of the table, and what a job has in it. */
export interface JobColumn {
  readonly name: string
  readonly type: 'bigint' | 'text' | 'bytea'
  readonly get: (job: Job) => SqlValue
}

export const JOB_COLUMNS = columnsOf(COLUMNS)
const MUTABLE_COLUMNS = columnsOf(COLUMNS.filter(({ mutable }) => mutable))
/** The number, and the columns that may change once the row is there and that no statement of its own writes. */
export const CHANGED_COLUMNS = [...JOB_COLUMNS.filter(({ name }) => name === 'seq'), ...MUTABLE_COLUMNS]

/** An assignment to each of these but the number, from a row called `changed`. */
export const SET_CHANGED = MUTABLE_COLUMNS.map(({ name }) => `${name} = changed.${name}`).join(', ')

/** Returns the columns of a table of SQLite, with those of bytes behind them. */
function columnsOf(columns: typeof COLUMNS): readonly JobColumn[] {
  const payloads = columns.filter(({ name }) => isPayload(name))
  return [
    ...columns.map(({ name, get }): JobColumn => {
      if (isPayload(name)) return { name, type: 'text', get: (job) => textOf(get(job)) }
      return { name, type: TEXTS.has(name) ? 'text' : 'bigint', get }
    }),
    ...payloads.map(({ name, get }): JobColumn => ({ name: bytesName(name), type: 'bytea', get: (job) => bytesOf(get(job)) })),
  ]
}

/** Cuts by characters, of which the reader keeps those that fit. */
function cutText(name: string): string {
  return `CASE WHEN $1 > 0 THEN left(job.${name}, $1::int) END`
}

function sizeOf(names: readonly string[]): string {
  return names.map((name) => `coalesce(octet_length(job.${name}), octet_length(job.${bytesName(name)}), 0)`).join(' + ')
}

function withoutPayload(columns: string, bytes: string, name: string): string {
  return `${columns}, ${bytes.replace(`job.${bytesName(name)}`, 'NULL::bytea')}`
}
