/** `test` for Postgres: gives each test a schema of its own on the server of the run. */
import { test as base, inject } from 'vitest'

export interface TestSchema {
  readonly url: string
  /** A name that no other test has. Nothing of that name exists yet. */
  readonly schema: string
}

let count = 0

export const test = base.extend('postgres', ({ skip }): TestSchema => {
  const server = inject('postgres')
  if (!('missing' in server)) return { url: server.url, schema: `test_${process.pid}_${++count}` }
  if (inject('postgresRequired')) throw new Error(`Postgres is required (TEST_POSTGRES): ${server.missing}`)
  return skip(`no Postgres: ${server.missing}`)
})
