/** Runs before tests in a browser, and only then: finds the browser, and builds the dashboard's page. */
import type { TestProject } from 'vitest/node'
import { pageFolder } from '../../apps/dashboard/src/pageFolder.ts'
import { isRequired } from '../required.ts'
import { type Chromium, findChromium, type Missing } from './chromium.ts'

declare module 'vitest' {
  interface ProvidedContext {
    chromium: Chromium | Missing
    /** True if a missing browser fails the tests, in place of skipping them. */
    chromiumRequired: boolean
  }
}

export async function setup(project: TestProject): Promise<void> {
  project.provide('chromiumRequired', isRequired('TEST_BROWSER'))
  project.provide('chromium', await findChromium())
  // Built once, before the processes of tests ask for it.
  await pageFolder()
}
