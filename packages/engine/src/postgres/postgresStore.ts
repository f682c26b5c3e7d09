/** The store in a schema of Postgres. */
import type { PostgresSettings } from '@millrace/core'
import { threadFile } from '@millrace/worker'
import type { StoreModule } from '../storeModule.ts'
import type { Postgres } from './load.ts'
import type { SchemaOptions } from './options.ts'
import { schemaOwnership } from './schemaOwnership.ts'

/** A writer that has died leaves a session, which the server ends when it notices. */
const FORMER_SESSION_MS = 2_000

/** @param isMoving see `SchemaOptions` */
export function postgresStore(
  driver: Postgres,
  { postgres: url, schema, durability, autoMigrate, listen, transport }: PostgresSettings,
  { isMoving = false }: { readonly isMoving?: boolean } = {},
): StoreModule {
  const owners = driver.ownerRegistryOf({ url, schema })
  /** True once an owner has said where it is. */
  let exists = false
  const optionsNow = (): SchemaOptions => ({
    url,
    schema,
    durability,
    waitMs: FORMER_SESSION_MS,
    autoMigrate,
    mayCreate: !exists && !isMoving,
    isMoving,
  })
  return {
    writer: {
      file: () => threadFile('millrace-postgres-writer', import.meta.url),
      get options() {
        return optionsNow()
      },
    },
    reader: { file: () => threadFile('millrace-postgres-query', import.meta.url), options: { url, schema } },
    onServer: true,
    ownership: () =>
      schemaOwnership({
        ...{ driver, owners, url, schema, listen, transport },
        exists: () => {
          exists = true
        },
      }),
    // If the schema is gone, the next attempt to open it says so.
    gone: () => undefined,
  }
}
