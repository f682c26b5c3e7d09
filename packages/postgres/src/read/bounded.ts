/** Reads jobs up to a number of them or of their bytes: first their numbers and sizes, then those that fit. */
import type { JobRow } from '@millrace/core/kernel'
import type { Value } from '../bridge/statement.ts'
import type { Connection } from '../connection.ts'
import { JOB_ROW, jobFrom } from '../tables/job.ts'

export interface Bounded {
  readonly rows: JobRow[]
  /** True if there are no more rows. */
  readonly complete: boolean
}

/** A row's number and its size in bytes. */
export type Sized = [seq: number, bytes: number]

/** @param sql a statement for `Sized` rows in order, whose last parameter is a limit */
export function readBounded(
  connection: Connection,
  sql: string,
  values: readonly Value[],
  { limit, bytes, columns = JOB_ROW }: { readonly limit: number; readonly bytes: number; readonly columns?: string },
): Bounded {
  // One more than wanted shows whether that was all.
  const found = connection.all<Sized>(sql, ...values, limit + 1)
  const fitting = fittingOf(found, limit, bytes)
  return { rows: readInOrder(connection, fitting, columns), complete: fitting.length === found.length }
}

/** Returns the first of the rows, up to about that many bytes; at least one, if there is one. */
export function fittingOf(found: readonly Sized[], limit: number, bytesMax: number): readonly number[] {
  let bytes = 0
  const end = found.findIndex(([, size], index) => {
    bytes += size
    return index > 0 && (index >= limit || bytes > bytesMax)
  })
  return (end < 0 ? found : found.slice(0, end)).map(([seq]) => seq)
}

/** Returns the jobs with these numbers that are there, in the order of the numbers. */
export function readInOrder(connection: Connection, seqs: readonly number[], columns: string = JOB_ROW): JobRow[] {
  if (seqs.length === 0) return []
  const rows = connection.all<unknown[]>(`SELECT ${columns} FROM job WHERE job.seq = ANY ($1::bigint[])`, seqs)
  const bySeq = new Map(rows.map((row) => [row[0] as number, row]))
  return seqs.flatMap((seq) => {
    const row = bySeq.get(seq)
    return row === undefined ? [] : [jobFrom(row)]
  })
}
