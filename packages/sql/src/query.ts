/** A statement that reads, as each SQL store prepares and runs it. */
import type { SqlValue } from './value.ts'

/** A statement that reads. Its rows are arrays. */
export interface Query<Row> {
  all(...values: readonly SqlValue[]): Row[]
  get(...values: readonly SqlValue[]): Row | undefined
}

/** Prepares a statement of a store. Each `?` of its text is a parameter. */
export type Prepare = <Row extends readonly unknown[]>(text: string) => Query<Row>
