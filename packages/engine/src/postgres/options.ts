/** The options by which threads open a schema; plain data. */

export interface SchemaOptions {
  readonly url: string
  readonly schema: string
  readonly durability: 'full' | 'normal'
  readonly waitMs: number
  readonly autoMigrate: boolean
}
