/** What it takes to open a file, with whatever is in it, and what memory the process then has. */
import { openEngine } from '@millrace/engine'
import type { Scenario } from '../scenario.ts'

export const openTime: Scenario = async ({ file, durability }) => {
  const begin = performance.now()
  const engine = await openEngine({ file, durability })
  const { states } = await engine.stats()
  const openMs = performance.now() - begin
  const rssMb = process.memoryUsage.rss() / 2 ** 20
  await engine.stop()
  return { openMs, rssMb, waiting: states.waiting }
}
