/** Every migration, in order. The first makes a new schema; a later one is added, and `CREATE_SCHEMA` stays as the first release has it. */
import { CREATE_SCHEMA } from '../schema.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [{ id: 8, name: 'initial', up: CREATE_SCHEMA, minReader: 8 }]

/** The oldest schema that can be opened. Those before it were made before 0.1.0. */
export const OLDEST_SCHEMA = (MIGRATIONS[0] as Migration).id

export const SCHEMA_VERSION = (MIGRATIONS.at(-1) as Migration).id
