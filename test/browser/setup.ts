/** Runs before tests in a browser, and only then: finds the browser. */
import type { TestProject } from 'vitest/node'
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
}
