/** Runs before tests on Postgres, and only then: starts the servers that they share. */
import type { TestProject } from 'vitest/node'
import { isRequired } from '../required.ts'
import { findBinaries, type Missing } from './binaries.ts'
import { type Server, startServer } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgres: Pick<Server, 'url'> | Missing
    /** The URL of a second server, which syncs; empty if Postgres is missing. */
    durablePostgres: string
    /** True if a missing Postgres fails the tests, in place of skipping them. */
    postgresRequired: boolean
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide('postgresRequired', isRequired('TEST_POSTGRES'))
  const binaries = findBinaries()
  if ('missing' in binaries) {
    project.provide('postgres', binaries)
    project.provide('durablePostgres', '')
    return async () => {}
  }
  const [server, durable] = await Promise.all([startServer(binaries), startServer(binaries, true)])
  project.provide('postgres', { url: server.url })
  project.provide('durablePostgres', durable.url)
  return async () => {
    await Promise.all([server.stop(), durable.stop()])
  }
}
