/** Runs before tests in a browser, and only then: finds the browser. */
import type { TestProject } from 'vitest/node'
import { type Chromium, findChromium, type Missing } from './chromium.ts'

declare module 'vitest' {
  interface ProvidedContext {
    chromium: Chromium | Missing
    /** True if a missing browser fails the tests, in place of skipping them. */
    chromiumRequired: boolean
  }
}

export async function setup(project: TestProject): Promise<void> {
  project.provide('chromiumRequired', isRequired(process.env['TEST_BROWSER']))
  project.provide('chromium', await findChromium())
}

function isRequired(value: string | undefined): boolean {
  if (value === undefined || value === '' || value === 'required') return value === 'required'
  throw new RangeError(`TEST_BROWSER must be required or unset, got ${value}`)
}
