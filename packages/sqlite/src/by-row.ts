/**
 * Runs one statement for many rows that differ only in their number. Jobs are created, finished and pruned in roughly one order,
 * so most rows of a turn are consecutive: those run as a range, the others as lists. Measured (µs per completed row, two indexes
 * touched): joined with VALUES 1.5, by list of 50 1.2, by range 0.9, one by one 2.4.
 */
import { rangesOf, type SqlValue } from '@millrace/sql'
import { prepareBatched } from './batchedStatement.ts'
import type { Database } from './driver.ts'

/** Shorter ranges go into the lists, because each range needs a statement run of its own. */
const RANGE_MIN = 12

export interface ByRow {
  /** Runs the statement for the rows with these numbers, each given once. Returns the number of changed rows. */
  run(seqs: readonly number[], shared: readonly SqlValue[]): number
}

/**
 * @param sql the statement around a condition on `seq`, which comes last
 * @param shared the number of values that the statement binds before the condition
 */
export function prepareByRow(db: Database, sql: (condition: string) => string, shared: number): ByRow {
  const range = db.prepare(sql('seq BETWEEN ? AND ?'))
  const list = prepareBatched<number>(db, {
    sql: (seqs) => sql(`seq IN (${seqs})`),
    shared,
    width: 1,
    bind: (seq, values, place) => {
      values[place] = seq
    },
  })
  return {
    run(seqs, sharedValues) {
      const single: number[] = []
      let changes = 0
      for (const [first, last] of rangesOf(seqs)) {
        if (last - first + 1 >= RANGE_MIN) changes += range.run(...sharedValues, first, last).changes
        else for (let seq = first; seq <= last; seq++) single.push(seq)
      }
      return changes + list.run(single, sharedValues)
    },
  }
}
