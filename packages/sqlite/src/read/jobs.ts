/** Jobs by their row numbers. */
import type { JobRow } from '@millrace/core'
import type { Database } from '../driver.ts'
import { readBounded } from './bounded.ts'
import { type RawRow, ROW_COLUMNS, rowFrom } from './row.ts'

// CROSS JOIN keeps the list outside: a look-up per number in the list's order, never a scan.
const BY_LIST = `SELECT ${ROW_COLUMNS} FROM json_each(?) AS wanted CROSS JOIN job ON job.seq = wanted.value`

export function prepareJobs(db: Database): (seqs: readonly number[]) => JobRow[] {
  const statement = db.prepare(BY_LIST).raw()
  return (seqs) => (statement.all(JSON.stringify(seqs)) as RawRow[]).map(rowFrom)
}

/** The first of them, up to about that many bytes of payload. */
export function prepareJobsWithin(db: Database, bytesMax: number): (seqs: readonly number[]) => JobRow[] {
  const statement = db.prepare(BY_LIST).raw()
  return (seqs) => readBounded(statement, [JSON.stringify(seqs)], seqs.length, bytesMax).rows
}
