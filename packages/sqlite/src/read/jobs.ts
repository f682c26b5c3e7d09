/** Reads jobs by their row numbers. */
import type { JobRow } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { payloadBytes, type RawRow, ROW_COLUMNS, rowFrom } from '../tables/job.ts'
import { readBounded } from './bounded.ts'

// CROSS JOIN keeps the list outside: it looks up each number in the list's order, and never scans.
const BY_LIST = `SELECT ${ROW_COLUMNS} FROM json_each(?) AS wanted CROSS JOIN job ON job.seq = wanted.value`

export function prepareJobs(db: Database): (seqs: readonly number[]) => JobRow[] {
  const statement = db.prepare(BY_LIST).raw()
  return (seqs) => (statement.all(JSON.stringify(seqs)) as RawRow[]).map(rowFrom)
}

/** Returns the first of the jobs, up to about that many bytes of payload. */
export function prepareJobsWithin(db: Database, bytesMax: number): (seqs: readonly number[]) => JobRow[] {
  const statement = db.prepare(BY_LIST).raw()
  return (seqs) => readBounded(statement, [JSON.stringify(seqs)], seqs.length, bytesMax).rows
}

/** Implements `Store.jobsInPlace`. */
export function prepareJobsInPlace(db: Database): (seqs: readonly number[], bytesMax: number) => (JobRow | undefined)[] {
  const statement = db.prepare(`SELECT ${ROW_COLUMNS} FROM json_each(?) AS wanted LEFT JOIN job ON job.seq = wanted.value`).raw()
  return (seqs, bytesMax) => {
    const found: (JobRow | undefined)[] = []
    let bytes = 0
    for (const raw of statement.iterate(JSON.stringify(seqs)) as Iterable<RawRow>) {
      bytes += payloadBytes(raw)
      if (found.length > 0 && bytes > bytesMax) break
      // All columns are null if there is no job.
      found.push((raw[0] as number | null) === null ? undefined : rowFrom(raw))
    }
    return found
  }
}
