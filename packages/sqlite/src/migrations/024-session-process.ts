/**
 * Notes the process of each session, so that the next owner sees that it is dead. A version without this migration writes none: its sessions
 * have their leases.
 */
import type { Migration } from './migration.ts'

export const sessionProcess: Migration = {
  id: 24,
  name: 'session-process',
  sql: "ALTER TABLE session ADD COLUMN process TEXT NOT NULL DEFAULT '';",
  down: 'ALTER TABLE session DROP COLUMN process;',
  minReader: 23,
}
