/** One step of the schema. Steps are numbered without gaps, and only add within a major version. */

export interface Migration {
  readonly id: number
  readonly name: string
  /** Statements in the schema, all in one transaction. */
  readonly up: readonly string[]
  /** Undoes the step: the tables are as the step found them. What only the step's own tables and columns hold is lost. */
  readonly down?: readonly string[]
  /** The oldest schema version whose code may still open the schema afterwards. */
  readonly minReader: number
}
