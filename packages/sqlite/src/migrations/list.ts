/** Every migration, in order. */
import { initial } from './001-initial.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [initial]

/** The newest schema that this version knows. */
export const SCHEMA_VERSION = MIGRATIONS.length
