/** Every migration, in order. The first makes a new file; a later one is added, and `SCHEMA` stays as the first release has it. */
import { SCHEMA } from '../schema.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [{ id: 24, name: 'initial', sql: SCHEMA, minReader: 24 }]

/** The oldest schema that can be opened. Files of an older one were made before 0.1.0. */
export const OLDEST_SCHEMA = (MIGRATIONS[0] as Migration).id

/** The oldest schema that a file can be migrated down to: each later step can be undone. */
export const OLDEST_DOWN = (MIGRATIONS.findLast(({ down }) => down === undefined) as Migration).id

/** The newest schema that this version knows. */
export const SCHEMA_VERSION = (MIGRATIONS.at(-1) as Migration).id
