/** The statements of a turn, which are sent at once. */
import type { Statement, Value } from '../bridge/statement.ts'

export class Batch {
  readonly statements: Statement[] = []

  add(text: string, ...values: readonly Value[]): void {
    this.statements.push({ text, values })
  }

  /** Adds an UPDATE or a DELETE that fails the turn if it changes another number of rows. */
  change(what: string, rows: number, text: string, ...values: readonly Value[]): void {
    const checked = `WITH changed AS (${text} RETURNING 1)
SELECT expect_rows('${what}', (SELECT count(*) FROM changed), $${values.length + 1})`
    this.statements.push({ text: checked, values: [...values, rows] })
  }
}

/** Returns the values of each column of some rows, as parameters of `unnest`. */
export function columns<Row>(rows: readonly Row[], ...gets: readonly ((row: Row) => Value)[]): Value[] {
  return gets.map((get) => rows.map(get))
}
