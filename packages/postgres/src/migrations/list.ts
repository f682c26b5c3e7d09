/** Every migration, in order. */
import { CREATE_SCHEMA } from '../schema.ts'
import type { Migration } from './migration.ts'

/** A version without this migration keeps timed pauses until they are resumed. */
const PAUSE_END = `CREATE TABLE pause_end (
  queue bigint NOT NULL, part text NOT NULL CHECK (part IN ('queue', 'name', 'key')), what text NOT NULL,
  until bigint NOT NULL CHECK (until > 0), PRIMARY KEY (queue, part, what)
)`

export const MIGRATIONS: readonly Migration[] = [
  { id: 1, name: 'initial', up: CREATE_SCHEMA, minReader: 1 },
  { id: 2, name: 'pause-ends', up: [PAUSE_END], down: ['DROP TABLE pause_end'], minReader: 1 },
]

export const SCHEMA_VERSION = (MIGRATIONS.at(-1) as Migration).id
