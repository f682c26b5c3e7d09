/** The options by which threads open a schema; plain data. */

export interface SchemaOptions {
  readonly url: string
  readonly schema: string
  readonly durability: 'full' | 'normal'
  readonly waitMs: number
  readonly autoMigrate: boolean
  /** False once the schema is known to exist: another one in its place would be an empty queue, and hide the loss of all jobs. */
  readonly mayCreate: boolean
  /** True if the schema is about to be moved: its inbox is emptied, and lets nothing in. */
  readonly isMoving: boolean
}
