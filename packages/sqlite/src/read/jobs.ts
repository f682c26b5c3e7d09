/** Reads jobs by their row numbers. */
import type { Data, PayloadName } from '@millrace/core'
import type { JobRow } from '@millrace/core/kernel'
import { payloadBytes, type RawRow, ROW_COLUMNS, rowFrom } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { CUT_COLUMNS, cutRowFrom, cutValues } from '../tables/job.ts'
import { readBounded } from './bounded.ts'

// CROSS JOIN keeps the list outside: it looks up each number in the list's order, and never scans.
const BY_LIST = 'FROM json_each(?) AS wanted CROSS JOIN job ON job.seq = wanted.value'

export type ReadJobs = (seqs: readonly number[], bytesMax?: number) => JobRow[]

export function prepareJobs(db: Database): ReadJobs {
  const whole = db.prepare(`SELECT ${ROW_COLUMNS} ${BY_LIST}`).raw()
  const cut = db.prepare(`SELECT ${CUT_COLUMNS} ${BY_LIST}`).raw()
  return (seqs, bytesMax) => {
    const list = JSON.stringify(seqs)
    if (bytesMax === undefined) return (whole.all(list) as RawRow[]).map(rowFrom)
    return (cut.all(...cutValues(bytesMax), list) as RawRow[]).map((raw) => cutRowFrom(raw, bytesMax))
  }
}

/** Returns the first of the jobs, up to about that many bytes of payload. */
export function prepareJobsWithin(db: Database, bytesMax: number): (seqs: readonly number[]) => JobRow[] {
  const statement = db.prepare(`SELECT ${ROW_COLUMNS} ${BY_LIST}`).raw()
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

/** Implements `Store.payload`. */
export function preparePayload(db: Database): (seq: number, name: PayloadName) => Data {
  const prepare = (name: PayloadName) => db.prepare(`SELECT ${name} FROM job WHERE seq = ?`).pluck()
  const statements = { data: prepare('data'), output: prepare('output'), checkpoint: prepare('checkpoint') }
  return (seq, name) => (statements[name].get(seq) as Data | undefined) ?? null
}
