/** One step of the schema. Steps are numbered without gaps, and only add within a major version. */
import type { Database } from '../driver.ts'

export interface Migration {
  readonly id: number
  readonly name: string
  readonly sql: string
  /** Does the work that SQL alone cannot do; runs after `sql`, in the same transaction. */
  readonly fill?: (db: Database) => void
  /** Undoes the step: the tables are as the step found them. What only the step's own tables and columns hold is lost. */
  readonly down?: string
  /** The oldest schema version whose code may still open the file afterwards. A migration that raises it makes a backup first. */
  readonly minReader: number
}
