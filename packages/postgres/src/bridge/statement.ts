/** Statements as the store has them. */
import type { SqlValue } from '@millrace/sql'

/** A parameter: one value, or an array. */
export type Value = SqlValue | readonly Value[]

export interface Statement {
  readonly text: string
  readonly values: readonly Value[]
}
