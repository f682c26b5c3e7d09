/** `test` for Postgres: gives each test a schema of its own on the servers of the run. */

import type { StoreOptions } from '@millrace/postgres'
import { test as base, inject, onTestFinished, type TestContext } from 'vitest'
import { cost } from '../cost/cost.ts'
import { findBinaries } from './binaries.ts'
import { startServer } from './server.ts'

export interface TestSchema {
  readonly url: string
  /** A name that no other test has. Nothing of that name exists yet. */
  readonly schema: string
}

let count = 0

/** Returns a schema of its own for a test, which is skipped if there is no Postgres. */
export function newSchema({ skip }: Pick<TestContext, 'skip'>): TestSchema {
  const server = inject('postgres')
  cost.schemas++
  if (!('missing' in server)) return { url: server.url, schema: `test_${process.pid}_${++count}` }
  if (inject('postgresRequired')) throw new Error(`Postgres is required (TEST_POSTGRES): ${server.missing}`)
  return skip(`no Postgres: ${server.missing}`)
}

/** Starts a server of its own that syncs, and returns its URL. It ends with the test. */
export async function durableServer(): Promise<string> {
  const binaries = findBinaries()
  if ('missing' in binaries) throw new Error(binaries.missing)
  const { url, stop } = await startServer(binaries, true)
  onTestFinished(stop)
  return url
}

export function storeOptions(schema: TestSchema): StoreOptions {
  let draws = 0
  // A schema has two numbers, which differ.
  return { ...schema, durability: 'normal', waitMs: 0, random: () => 0.5 / ++draws, now: 1_700_000_000_000 }
}

export const test = base
  .extend('postgres', ({ skip }) => newSchema({ skip }))
  /** The same on the server that syncs. The command line opens no other. */
  .extend('durable', ({ postgres }): TestSchema => ({ ...postgres, url: inject('durablePostgres') }))
