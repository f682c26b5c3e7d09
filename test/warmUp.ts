/** Before any test, and again before what has changed is tested anew: what tests start is built. */
import type { TestProject } from 'vitest/node'
import { pageFolder } from '../apps/dashboard/src/pageFolder.ts'
import { buildAll } from './built.ts'

export default async function warmUp(project: TestProject): Promise<void> {
  await build()
  project.onTestsRerun(build)
}

async function build(): Promise<void> {
  await buildAll()
  // The page, too: tests in several processes ask for it.
  await pageFolder()
}
