/** Runs before tests on Postgres, and only then: starts the server that they share. */
import type { TestProject } from 'vitest/node'
import { isRequired } from '../required.ts'
import { findBinaries, type Missing } from './binaries.ts'
import { type Server, startServer } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgres: Pick<Server, 'url'> | Missing
    /** True if a missing Postgres fails the tests, in place of skipping them. */
    postgresRequired: boolean
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide('postgresRequired', isRequired('TEST_POSTGRES'))
  const binaries = findBinaries()
  if ('missing' in binaries) {
    project.provide('postgres', binaries)
    return async () => {}
  }
  const { url, stop } = await startServer(binaries)
  project.provide('postgres', { url })
  return stop
}
