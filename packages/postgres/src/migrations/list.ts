/** Every migration, in order. */
import { CREATE_SCHEMA } from '../schema.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [{ id: 1, name: 'initial', up: CREATE_SCHEMA, minReader: 1 }]

export const SCHEMA_VERSION = (MIGRATIONS.at(-1) as Migration).id
