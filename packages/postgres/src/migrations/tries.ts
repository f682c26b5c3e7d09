/** Bounds what an entry of the inbox can cost: its options, and the owners that it can take with it. */
import { createEnqueue } from '../inbox/schema.ts'

export const COUNT_TRIES: readonly string[] = [
  // The owners that have begun to decide the entry, and were gone before they had.
  'ALTER TABLE inbox ADD COLUMN tries smallint NOT NULL DEFAULT 0',
  createEnqueue('bounded'),
]

export const COUNT_NO_TRIES: readonly string[] = [
  'ALTER TABLE inbox DROP COLUMN tries',
  createEnqueue().replace('CREATE', 'CREATE OR REPLACE'),
]
