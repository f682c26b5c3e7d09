/** Opens a schema as its owner: connects, takes the owner's lock, creates or migrates the schema, and claims it. */
import { AlreadyOpenError, NotADatabaseError, SchemaTooOldError } from '@millrace/core'
import { type BridgeTo, newBridge } from './bridge/bridge.ts'
import { Connection } from './connection.ts'
import { openInbox } from './inbox/closed.ts'
import { MIGRATIONS, SCHEMA_VERSION } from './migrations/list.ts'
import type { Migration } from './migrations/migration.ts'
import { checkSchema, checkServer, refusedBy } from './open/check.ts'
import { type Claim, claim } from './open/claim.ts'
import { Lock } from './open/lock.ts'
import { createSchema, drawNode, migrateDown, migrateUp, pendingIn } from './open/migrate.ts'
import type { StoreOptions } from './options.ts'
import { ownerSettings, setUpOf } from './settings.ts'
import { makeStore, type PostgresStore } from './store.ts'

/**
 * @param migrations a test's own, or this version's
 * @param bridgeTo makes the bridge to the server, which closes with the store
 * @throws AlreadyOpenError, and other typed errors that say why the schema cannot be opened
 */
export function openStore(
  options: StoreOptions,
  migrations: readonly Migration[] = MIGRATIONS,
  bridgeTo: BridgeTo = newBridge,
): PostgresStore {
  const { schema, autoMigrate = true, isMoving = false, now, random } = options
  const use = (connection: Connection, lock: Lock, isFresh: boolean) => {
    const pending = pendingIn(connection, migrations)
    if (pending.length > 0 && !autoMigrate && !isFresh)
      throw new SchemaTooOldError(
        `schema ${schema} lacks version ${pending[0]?.id} of its layout, and autoMigrate is off: set MILLRACE_POSTGRES and run millrace migrate --schema ${schema}`,
      )
    // From now on no former owner writes.
    const claimed = claim(connection, now, drawNode(random))
    migrateUp(connection, schema, pending, now)
    if (!isMoving) openInbox(connection)
    return makeStore(connection, lock, claimed)
  }
  return opened(options, migrations, undefined, use, bridgeTo)
}

/** Opens a schema to work on its tables, perhaps as a part of a move, and closes the connection if `use` throws. @throws as `openStore` */
export function ownSchema<Value>(
  options: StoreOptions,
  move: 'source' | 'target' | undefined,
  use: (connection: Connection, claimed: Claim) => Value,
): Value {
  const { schema, random, now } = options
  return opened(options, MIGRATIONS, move, (connection) => {
    const claimed = claim(connection, now, drawNode(random))
    migrateUp(connection, schema, pendingIn(connection, MIGRATIONS), now)
    return use(connection, claimed)
  })
}

/**
 * Undoes the migrations after version `to`, each in a transaction of its own, so that an older engine can open the schema. If it is
 * interrupted, the same call continues.
 *
 * @throws AlreadyOpenError, InternalError if a migration cannot be undone, and errors that say why the schema cannot be opened
 */
export function migrateSchemaDown(options: StoreOptions, to: number, migrations: readonly Migration[] = MIGRATIONS): void {
  opened(options, migrations, undefined, (connection) => {
    claim(connection, options.now, drawNode(options.random))
    migrateDown(connection, to, migrations)
    connection.close()
  })
}

/** The version of a schema, and the newest one that this engine knows. */
export interface Inspected {
  readonly schemaVersion: number
  readonly knownVersion: number
}

/** Returns the version of a schema, whoever owns it: 0 if there is none yet. @throws NotADatabaseError, and errors as `openStore` */
export function inspectSchema(options: Pick<StoreOptions, 'url' | 'schema'>): Inspected {
  return lookAt(options, (connection, isThere) => {
    const [schemaVersion] = isThere ? connection.pluck<number>('SELECT schema_version FROM meta') : [0]
    return { schemaVersion: schemaVersion as number, knownVersion: SCHEMA_VERSION }
  })
}

/** Looks at a schema, whoever owns it. @throws as `inspectSchema` */
export function lookAt<Value>(
  options: Pick<StoreOptions, 'url' | 'schema'>,
  use: (connection: Connection, isThere: boolean) => Value,
): Value {
  return connected({ ...options, durability: 'normal' }, newBridge, (connection) => {
    const value = use(connection, checkSchema(connection, options.schema, MIGRATIONS))
    connection.close()
    return value
  })
}

/** Takes the owner's lock, and creates the schema if there is none. Closes the connection if `use` throws. */
function opened<Value>(
  options: StoreOptions,
  migrations: readonly Migration[],
  move: 'source' | 'target' | undefined,
  use: (connection: Connection, lock: Lock, isFresh: boolean) => Value,
  bridgeTo: BridgeTo = newBridge,
): Value {
  const { schema, waitMs, mayCreate = true, random, now } = options
  return connected(options, bridgeTo, (connection) => {
    const lock = new Lock(connection, schema)
    if (!lock.take(waitMs))
      throw new AlreadyOpenError(`another process owns schema ${schema} (${lock.holder() ?? 'it has gone by now: try again'})`)
    const isFresh = !checkSchema(connection, schema, migrations, move)
    if (isFresh && move === 'source') throw new NotADatabaseError(`there is nothing to move in schema ${schema}`)
    if (isFresh && !mayCreate)
      throw new NotADatabaseError(
        `schema ${schema} is gone, and with it all of its jobs: restore a backup, or open the schema again to start with an empty queue`,
      )
    if (isFresh) createSchema(connection, schema, migrations[0] as Migration, now, random)
    return use(connection, lock, isFresh)
  })
}

function connected<Value>(
  { url, schema, durability }: Pick<StoreOptions, 'url' | 'schema' | 'durability'>,
  bridgeTo: BridgeTo,
  use: (connection: Connection) => Value,
): Value {
  const bridge = bridgeTo({ url, setUp: setUpOf(ownerSettings(schema, durability)) })
  try {
    const error = bridge.connect()
    if (error !== undefined) throw refusedBy(error)
    const connection = new Connection(bridge)
    checkServer(connection, durability)
    return use(connection)
  } catch (error) {
    bridge.close()
    throw error
  }
}
