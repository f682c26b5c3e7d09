/** `test` for Postgres: gives each test a schema of its own on the server of the run. */

import type { StoreOptions } from '@millrace/postgres'
import { test as base, inject, type TestContext } from 'vitest'

export interface TestSchema {
  readonly url: string
  /** A name that no other test has. Nothing of that name exists yet. */
  readonly schema: string
}

let count = 0

/** Returns a schema of its own for a test, which is skipped if there is no Postgres. */
export function newSchema({ skip }: Pick<TestContext, 'skip'>): TestSchema {
  const server = inject('postgres')
  if (!('missing' in server)) return { url: server.url, schema: `test_${process.pid}_${++count}` }
  if (inject('postgresRequired')) throw new Error(`Postgres is required (TEST_POSTGRES): ${server.missing}`)
  return skip(`no Postgres: ${server.missing}`)
}

export function storeOptions(schema: TestSchema): StoreOptions {
  return { ...schema, durability: 'normal', random: () => 0.5, now: 1_700_000_000_000 }
}

export const test = base.extend('postgres', ({ skip }) => newSchema({ skip }))
