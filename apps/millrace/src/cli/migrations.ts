/** The stores that `millrace migrate` works on: a file, or a schema of Postgres. */
import { hostname } from 'node:os'
import { validatePostgresOptions } from '@millrace/core'
import { now } from './clock.ts'
import { UsageError } from './errors.ts'
import { assertQueue, type Target, targetName } from './target.ts'

export interface MigratedStore {
  /** The store in messages. */
  readonly name: string
  /** The field of the answer that names it. */
  readonly field: 'file' | 'schema'
  /** The lowest version that `down` reaches. */
  readonly oldest: number
  /** Returns the version of the store, and the newest one that this program knows. */
  inspect(): { readonly schemaVersion: number; readonly knownVersion: number }
  up(): Promise<unknown>
  down(to: number): void
}

export async function migratedStore(target: Target): Promise<MigratedStore> {
  if (target.kind === 'url') throw new UsageError('migrate requires --file or --postgres: a running engine has migrated its store')
  return target.kind === 'file' ? inFile(target.file) : inSchema(target)
}

async function inFile(file: string): Promise<MigratedStore> {
  await assertQueue(file)
  const { inspectFile, migrateFileDown, OLDEST_DOWN } = await import('@millrace/sqlite')
  return {
    name: file,
    field: 'file',
    oldest: OLDEST_DOWN,
    inspect: () => inspectFile(file),
    up: async () => {
      const { openEngine } = await import('@millrace/engine')
      await openEngine({ file }).then((engine) => engine.stop())
    },
    down: (to) => migrateFileDown({ file, now: now(), host: hostname(), pid: process.pid }, to),
  }
}

async function inSchema(target: Target & { readonly kind: 'postgres' }): Promise<MigratedStore> {
  const { inspectSchema, migrateSchemaDown } = await import('@millrace/postgres')
  const { postgres: url, schema } = validatePostgresOptions({ postgres: target.postgres, schema: target.schema })
  return {
    name: targetName(target),
    field: 'schema',
    oldest: 1,
    inspect: () => inspectSchema({ url, schema }),
    up: async () => {
      const { openEngine } = await import('@millrace/engine')
      await openEngine({ postgres: url, schema, role: 'owner' }).then((engine) => engine.stop())
    },
    down: (to) => migrateSchemaDown({ url, schema, durability: 'full', waitMs: 0, random: Math.random, now: now() }, to),
  }
}
