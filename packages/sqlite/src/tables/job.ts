/** Table `job` in statements of SQLite. */
import { PAYLOADS } from '@millrace/core'
import type { Job, JobRow } from '@millrace/core/kernel'
import { COLUMNS, cutRow, isPayload, type RawRow, ROW_WIDTH, rowFrom, type SqlValue } from '@millrace/sql'

const MUTABLE = COLUMNS.filter(({ mutable }) => mutable)

export const MUTABLE_WIDTH = MUTABLE.length

export const JOB_COLUMNS = COLUMNS.map(({ name }) => name).join(', ')

/** An assignment to every column that may change, for `bindMutable`. */
export const SET_MUTABLE = MUTABLE.map(({ name }) => `${name} = ?`).join(', ')

/** The columns of a row with cut payloads, and behind them the stored bytes of each: for `cutRowFrom`. `cutValues` are its parameters. */
export const CUT_COLUMNS = `${COLUMNS.map(({ name }) => (isPayload(name) ? cutColumn(`job.${name}`) : `job.${name}`)).join(', ')},
${PAYLOADS.map((name) => `octet_length(job.${name})`).join(', ')}`

/** Reads nothing of a payload for 0 bytes. SQLite cuts strings by characters, and makes NULL of empty bytes. */
function cutColumn(column: string): string {
  return `CASE WHEN ? > 0 THEN CASE WHEN octet_length(${column}) <= ? THEN ${column} ELSE substr(${column}, 1, ?) END END`
}

export function cutValues(bytesMax: number): readonly SqlValue[] {
  return PAYLOADS.flatMap(() => [bytesMax, bytesMax, bytesMax])
}

export function bindJob(job: Job, values: SqlValue[], place: number): void {
  let next = place
  for (const { get } of COLUMNS) values[next++] = get(job)
}

export function bindMutable(job: Job, values: SqlValue[]): void {
  let next = 0
  for (const { get } of MUTABLE) values[next++] = get(job)
}

/** Reads a row of `CUT_COLUMNS`. */
export function cutRowFrom(raw: RawRow, bytesMax: number): JobRow {
  const [data, output, checkpoint] = raw.slice(ROW_WIDTH) as [number | null, number | null, number | null]
  return cutRow(rowFrom(raw), { data, output, checkpoint }, bytesMax)
}
