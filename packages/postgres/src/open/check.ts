/** Says why a schema cannot be opened, and what to do: of a server, a user or a schema that does not fit. No message has a password. */
import {
  NotADatabaseError,
  NotWritableError,
  SchemaTooNewError,
  SchemaTooOldError,
  StorageError,
  StoreMovedError,
  StoreMovingError,
  UnsupportedRuntimeError,
} from '@millrace/core'
import { POOLED } from '../bridge/direct.ts'
import type { BridgeError } from '../bridge/message.ts'
import type { Connection } from '../connection.ts'
import type { Migration } from '../migrations/migration.ts'
import type { StoreOptions } from '../options.ts'

/** As `server_version_num` says it. */
const OLDEST = 150_000

/** Returns the error for a server that cannot be reached, or refuses. */
export function refusedBy({ code, message }: BridgeError): Error {
  if (code === undefined) return new StorageError(`cannot connect to Postgres (${message}): check the URL, and that the server runs`)
  if (code === POOLED)
    return new UnsupportedRuntimeError(`${message}: name the server itself in the URL, since Millrace needs a session of its own`)
  if (code.startsWith('28') && message.includes('no encryption'))
    return new NotWritableError(`Postgres refused the connection (${message}): add sslmode=verify-full to the URL`)
  if (code.startsWith('28')) return new NotWritableError(`Postgres refused the user (${message}): check user and password in the URL`)
  if (code === '3D000') return new NotADatabaseError(`${message}: create the database, or name another one in the URL`)
  if (code === '42501')
    return new NotWritableError(`${message}: grant the user CREATE on the database, or create the schema and make the user its owner`)
  if (code === '25006')
    return new NotWritableError(`${message}: connect to the primary server, with a user whose default_transaction_read_only is off`)
  return new StorageError(`Postgres refused to open the schema (${code}: ${message})`)
}

/** @throws UnsupportedRuntimeError, NotWritableError */
export function checkServer(connection: Connection, durability: StoreOptions['durability']): void {
  const [version, fsync, isReplica, encoding] =
    connection.get<[number, string, boolean, string]>(
      "SELECT current_setting('server_version_num')::int, current_setting('fsync'), pg_is_in_recovery(), current_setting('server_encoding')",
    ) ?? []
  if (version === undefined || version < OLDEST)
    throw new UnsupportedRuntimeError(`Postgres must be 15 or newer, got ${Math.floor((version ?? 0) / 10_000)}: update the server`)
  // The error of a run, or its output, could not be stored. SQL_ASCII checks nothing, and its jsonb takes no escapes such as \u00e9.
  if (encoding !== 'UTF8')
    throw new UnsupportedRuntimeError(
      `the encoding of the database must be UTF8, got ${encoding}: create one WITH ENCODING 'UTF8' TEMPLATE template0, and name it in the URL`,
    )
  if (isReplica === true) throw new NotWritableError('the server is a replica, which cannot be written: connect to the primary server')
  if (durability === 'full' && fsync !== 'on')
    throw new UnsupportedRuntimeError(
      `durability 'full' needs fsync, which is ${fsync} on the server: turn it on, or choose durability: 'normal'`,
    )
}

/**
 * Names a table that has rows in each queue, or in each with jobs, and has none. The newest rows are asked for: in front of the others may be
 * the remains of many.
 */
const EMPTIED = `SELECT 'journal' WHERE (SELECT max(turn) FROM journal) IS NULL
UNION ALL SELECT 'running' WHERE NOT EXISTS (SELECT FROM running)
UNION ALL SELECT 'lane' WHERE NOT EXISTS (SELECT FROM lane) AND (SELECT max(seq) FROM job) IS NOT NULL`

/**
 * Returns true if the schema holds a queue.
 *
 * @param migrations all that this engine knows
 * @param move the part that the schema has in a move: a source may have moved, and a target may be half filled
 * @throws SchemaTooNewError, SchemaTooOldError, NotADatabaseError, StoreMovedError, StoreMovingError
 */
export function checkSchema(connection: Connection, schema: string, migrations: readonly Migration[], move?: 'source' | 'target'): boolean {
  const [oldest, known] = [migrations[0]?.id, migrations.at(-1)?.id] as [number, number]
  const tables = connection.pluck<string>(
    'SELECT relname::text FROM pg_class JOIN pg_namespace AS space ON space.oid = relnamespace WHERE nspname = $1 ORDER BY relname',
    schema,
  )
  if (tables.length === 0) return false
  if (!tables.includes('meta') || !tables.includes('journal'))
    throw new NotADatabaseError(`schema ${schema} has other tables (${tables[0]}): choose a schema of its own`)
  const [version, needed] = connection.get<[number, number]>('SELECT schema_version, min_reader FROM meta') ?? []
  if (version === undefined || needed === undefined) throw emptied(schema, 'meta')
  if (version < oldest)
    throw new SchemaTooOldError(
      `schema ${schema} has version ${version} of its layout, from before 0.1.0, which no release can open: choose another schema. This one was not changed`,
    )
  if (needed > known)
    throw new SchemaTooNewError(`schema ${schema} needs version ${needed} of its layout, and this Millrace knows ${known}: update Millrace`)
  if (tables.includes('moved') && move !== 'source') {
    const [movedTo] = connection.pluck<string>('SELECT address FROM moved')
    throw new StoreMovedError(`the jobs of schema ${schema} have moved to ${movedTo}: open that, or drop the schema`, { movedTo })
  }
  if (tables.includes('moving') && move !== 'target')
    throw new StoreMovingError(
      `a move into schema ${schema} was interrupted: repeat it (millrace migrate --from), which continues from there, or drop the schema`,
    )
  // The target of a move is filled table by table.
  const [table] = move === 'target' ? [] : connection.pluck<string>(EMPTIED)
  if (table !== undefined) throw emptied(schema, table)
  return true
}

function emptied(schema: string, table: string): Error {
  return new NotADatabaseError(
    `somebody has emptied the table ${table} of schema ${schema}, without which its jobs cannot be decided: restore the schema from a backup, or drop it`,
  )
}
