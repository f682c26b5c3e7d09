/**
 * Table `job`, as SQLite has it. A payload is text or bytes, which are two columns here: the bytes stand behind the others. So that most
 * updates touch no index, no column that changes is in one: `places.ts` has what an index would.
 */
import { type Data, PAYLOADS, type PayloadSizes, utf8Start } from '@millrace/core'
import type { Job, JobRow } from '@millrace/core/kernel'
import {
  bindJob,
  bindMutable,
  COLUMN_NAMES,
  MUTABLE_NAMES,
  type RawRow,
  ROW_COLUMNS,
  ROW_COLUMNS_WITHOUT_DATA,
  ROW_WIDTH,
  rowFrom,
} from '@millrace/sqlite/rows'
import type { Scalar, Value } from '../line/statement.ts'

const TEXTS: ReadonlySet<string> = new Set(['policy', 'extras', 'progress', ...PAYLOADS])
/** The payloads in the order of their columns. */
const PAYLOAD_NAMES = COLUMN_NAMES.filter((name) => PAYLOADS.some((payload) => payload === name))
const bytesOf = (name: string) => `${name}_bytes`

/** The columns to select first, from a table called `job`. */
export const JOB_ROW = `${ROW_COLUMNS}, ${PAYLOAD_NAMES.map((name) => `job.${bytesOf(name)}`).join(', ')}`
/** The same without the payload, which may be a megabyte. */
export const BARE_JOB_ROW = withoutPayload(ROW_COLUMNS_WITHOUT_DATA, PAYLOAD_NAMES.map((name) => `job.${bytesOf(name)}`).join(', '), 'data')
/** The same with neither payload nor output. */
export const CHILD_JOB_ROW = BARE_JOB_ROW.replace('job.output,', 'NULL,').replace('job.output_bytes', 'NULL::bytea')
/** The same with no payload at all. */
export const FLOW_JOB_ROW = CHILD_JOB_ROW.replace('job.checkpoint,', 'NULL,').replace('job.checkpoint_bytes', 'NULL::bytea')
export const JOB_ROW_WIDTH = ROW_WIDTH + PAYLOAD_NAMES.length

/** The same with payloads that are cut to `$1` bytes, and behind them the stored bytes of each of `PAYLOADS`. */
export const CUT_JOB_ROW = `${COLUMN_NAMES.map((name) => (isPayload(name) ? cutText(name) : `job.${name}`)).join(', ')},
${PAYLOAD_NAMES.map((name) => `CASE WHEN $1 > 0 THEN substr(job.${bytesOf(name)}, 1, $1::int) END`).join(', ')},
${PAYLOADS.map((name) => `coalesce(octet_length(job.${name}), octet_length(job.${bytesOf(name)}))`).join(', ')}`

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
  const job = jobFrom(row)
  const sizes = row.slice(JOB_ROW_WIDTH) as (number | null)[]
  const cut = (payload: Data): Data => (typeof payload === 'string' ? utf8Start(payload, bytesMax) : payload)
  return {
    ...job,
    ...{ data: cut(job.data), output: cut(job.output), checkpoint: cut(job.checkpoint) },
    bytes: Object.fromEntries(PAYLOADS.map((name, place) => [name, sizes[place] ?? null])) as unknown as PayloadSizes,
  }
}

interface Columns {
  /** Names of columns, for an INSERT. */
  readonly names: string
  /** A list of arrays, as parameters from the first on, for `unnest`. */
  readonly arrays: string
  readonly values: readonly Value[]
}

/** Returns whole jobs, column by column. */
export function jobColumns(jobs: readonly Job[]): Columns {
  return columnsOf(COLUMN_NAMES, jobs, (job, values) => bindJob(job, values, 0))
}

/** Returns what may change of jobs, with their numbers as the last column; with their data on demand. */
export function mutableColumns(jobs: readonly Job[]): Columns {
  const { names, arrays, values } = columnsOf(MUTABLE_NAMES, jobs, bindMutable)
  return { names: `${names}, seq`, arrays: `${arrays}, $${values.length + 1}::bigint[]`, values: [...values, jobs.map(({ seq }) => seq)] }
}

/** An assignment to each column that may change, from a row called `changed`. */
export const SET_MUTABLE = namesOf(MUTABLE_NAMES)
  .map((name) => `${name} = changed.${name}`)
  .join(', ')

function columnsOf(names: readonly string[], jobs: readonly Job[], bind: (job: Job, values: Scalar[]) => void): Columns {
  const all = namesOf(names)
  const columns = all.map(() => Array<Value>(jobs.length).fill(null))
  const row: Scalar[] = Array(names.length).fill(null)
  for (const [index, job] of jobs.entries()) {
    bind(job, row)
    for (const [place, value] of row.entries()) {
      const column = value instanceof Uint8Array ? all.indexOf(bytesOf(names[place] as string)) : place
      ;(columns[column] as Value[])[index] = value
    }
  }
  return { names: all.join(', '), arrays: all.map((name, place) => `$${place + 1}::${typeOf(name)}[]`).join(', '), values: columns }
}

/** Returns the columns with those of bytes behind them. */
function namesOf(names: readonly string[]): readonly string[] {
  return [...names, ...names.filter(isPayload).map(bytesOf)]
}

function typeOf(name: string): string {
  if (TEXTS.has(name)) return 'text'
  return name.endsWith('_bytes') ? 'bytea' : 'bigint'
}

function isPayload(name: string): boolean {
  return PAYLOADS.some((payload) => payload === name)
}

/** Cuts by characters, of which the reader keeps those that fit. */
function cutText(name: string): string {
  return `CASE WHEN $1 > 0 THEN left(job.${name}, $1::int) END`
}

function sizeOf(names: readonly string[]): string {
  return names.map((name) => `coalesce(octet_length(job.${name}), octet_length(job.${bytesOf(name)}), 0)`).join(' + ')
}

function withoutPayload(columns: string, bytes: string, name: string): string {
  return `${columns}, ${bytes.replace(`job.${bytesOf(name)}`, 'NULL::bytea')}`
}
