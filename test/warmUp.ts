/** Before any test, and again before what has changed is tested anew: what tests start is built. */
import type { TestProject } from 'vitest/node'
import { buildAll } from './built.ts'

export default async function warmUp(project: TestProject): Promise<void> {
  await buildAll()
  project.onTestsRerun(buildAll)
}
