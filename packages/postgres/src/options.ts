/** The options of `openStore`. Time and randomness are arguments. */

export interface StoreOptions {
  /** The server and the database, as `postgres://user:password@host:port/database`. */
  readonly url: string
  /** The schema that holds the queue: letters, digits and underscores, at most 63, and no digit first. It is created if there is none. */
  readonly schema: string
  /** `full`: a commit that returned is on the server's disk. `normal`: a crash of the server may lose the last commits. */
  readonly durability: 'full' | 'normal'
  /** The time to wait while another owner has the schema, in milliseconds. */
  readonly waitMs: number
  /** False: a schema that needs a migration is refused with SchemaTooOldError. Default true. */
  readonly autoMigrate?: boolean
  /** False: a schema that does not exist is refused with NotADatabaseError. Default true. */
  readonly mayCreate?: boolean
  /** True if the schema is about to be moved: an inbox that lets nothing in stays so. Default false. */
  readonly isMoving?: boolean
  /** Returns a number in [0, 1); draws the node number of a new schema. */
  readonly random: () => number
  /** Wall time in milliseconds since 1970. */
  readonly now: number
}
