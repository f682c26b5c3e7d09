/** One step of the schema. Steps are numbered from 1 without gaps, and only add within a major version. */
export interface Migration {
  readonly id: number
  readonly name: string
  readonly sql: string
  /** The oldest schema version whose code may still open the file afterwards. Raising it takes a backup first. */
  readonly minReader: number
}
