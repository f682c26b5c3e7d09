/**
 * Migrates a schema up to this version, or down to that of an older one. Each step is a transaction of its own, with its line in the ledger: if
 * the process dies between two, the next one continues. Only the holder of the owner's lock migrates, and no former owner can write meanwhile:
 * the schema has been claimed. Two that try anyway meet at the key of the ledger.
 */
import { InternalError, NODE_LIMIT } from '@millrace/core'
import type { Statement } from '../bridge/statement.ts'
import type { Connection } from '../connection.ts'
import type { Migration } from '../migrations/migration.ts'
import { refusedBy } from './check.ts'

const LEDGER = 'CREATE TABLE migration (id bigint PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL)'
/**
 * Functions keep the search path with which they are created. Temporary tables come last in it, or a caller's own could stand for a table of
 * the schema in a function that runs with more rights.
 */
const searchOnly = (schema: string) => `SET LOCAL search_path TO "${schema}", pg_temp`
/** A step may take longer than any turn. */
export const WITHOUT_LIMIT = ['SET LOCAL statement_timeout TO 0', 'SET LOCAL lock_timeout TO 0']

const plain = (texts: readonly string[]): Statement[] => texts.map((text) => ({ text, values: [] }))
const noteOf = ({ id, name }: Migration, now: number): Statement => ({
  text: 'INSERT INTO migration VALUES ($1, $2, $3)',
  values: [id, name, now],
})

/** Returns a number for the ids of a schema's jobs, which is not 0. */
export function drawNode(random: () => number): number {
  return 1 + Math.floor(random() * (NODE_LIMIT - 1))
}

/**
 * Creates the schema with its first step.
 *
 * @param random draws the schema's numbers, of which none is 0
 * @throws a typed error that says why it cannot be created
 */
export function createSchema(connection: Connection, schema: string, first: Migration, now: number, random: () => number): void {
  const draw = () => drawNode(random)
  // The owner of a schema may lack the right to create one.
  const isThere = connection.pluck('SELECT 1 FROM pg_namespace WHERE nspname = $1', schema).length > 0
  const { error } = connection.attemptAll([
    ...plain([...(isThere ? [] : [`CREATE SCHEMA "${schema}"`]), searchOnly(schema), LEDGER, ...first.up]),
    {
      text: 'INSERT INTO meta (one, node, inbox_number, schema_version, min_reader, created_at, history) VALUES (1, $1, $2, $3, $4, $5, server_history())',
      values: [draw(), draw(), first.id, first.minReader, now],
    },
    { text: "INSERT INTO journal VALUES (0, 0, $1, 1, 1, 1, 1, 0, 0, '')", values: [now] },
    { text: "INSERT INTO running VALUES (1, 0, '')", values: [] },
    noteOf(first, now),
  ])
  if (error !== undefined) throw refusedBy(error)
}

/** Returns the migrations that the schema lacks, in order. */
export function pendingIn(connection: Connection, migrations: readonly Migration[]): readonly Migration[] {
  const applied = new Set(connection.pluck<number>('SELECT id FROM migration'))
  return migrations.filter(({ id }) => !applied.has(id))
}

export function migrateUp(connection: Connection, schema: string, pending: readonly Migration[], now: number): void {
  for (const migration of pending)
    connection.transact([
      ...plain([searchOnly(schema), ...WITHOUT_LIMIT, ...migration.up]),
      {
        text: 'UPDATE meta SET schema_version = $1, min_reader = greatest(min_reader, $2)',
        values: [migration.id, migration.minReader],
      },
      noteOf(migration, now),
    ])
}

/** Undoes the migrations after a schema, the newest first. */
export function migrateDown(connection: Connection, to: number, migrations: readonly Migration[]): void {
  const applied = connection.pluck<number>('SELECT id FROM migration WHERE id > $1 ORDER BY id DESC', to)
  for (const id of applied) {
    const down = migrations.find((migration) => migration.id === id)?.down
    if (down === undefined) throw new InternalError(`migration ${id} cannot be undone`)
    const kept = migrations.filter((migration) => migration.id < id)
    connection.transact([
      ...plain([...WITHOUT_LIMIT, ...down]),
      {
        text: 'UPDATE meta SET schema_version = $1, min_reader = $2',
        values: [id - 1, Math.max(...kept.map(({ minReader }) => minReader))],
      },
      { text: 'DELETE FROM migration WHERE id = $1', values: [id] },
    ])
  }
}
