/** One step of the schema. Steps are numbered from 1 without gaps, and only add within a major version. */
import type { Database } from '../driver.ts'

export interface Migration {
  readonly id: number
  readonly name: string
  readonly sql: string
  /** What SQL alone cannot say; after `sql`, in the same transaction. */
  readonly fill?: (db: Database) => void
  /** The oldest schema version whose code may still open the file afterwards. Raising it takes a backup first. */
  readonly minReader: number
}
