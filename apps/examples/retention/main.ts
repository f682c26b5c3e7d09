/** A queue of its own for each customer, closed when the customer leaves: drained, what is kept of it counted and removed, and forgotten. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob, openEngine, QueueDrainingError } from '@millrace/engine'

const report = defineJob<number>({ name: 'report' })

const folder = mkdtempSync(join(tmpdir(), 'millrace-retention-'))
const engine = await openEngine({ file: join(folder, 'jobs.db'), retention: { completed: { age: '7d' } } })
// Of this customer a hundred are enough.
await engine.queues.configure('customer-1', { retention: { completed: { age: '1d', count: 100 } } })
await engine.enqueueMany(Array.from({ length: 20 }, (_, number) => ({ job: report, data: number, options: { queue: 'customer-1' } })))
await engine.enqueue(report, 0, { queue: 'customer-2' })
engine.work(report.handler(() => new Promise((resolve) => setTimeout(resolve, 5))))

const drained = engine.queues.drain('customer-1', { timeout: '1m' })
const refused = await engine.enqueue(report, 21, { queue: 'customer-1' }).catch((error: unknown) => error)
console.log(`while it drains: ${refused instanceof QueueDrainingError ? refused.code : 'taken'}`)
await drained
const { count, active, states } = await engine.queues.purge('customer-1', { dryRun: true })
console.log(`drained: ${states.completed} jobs completed, ${active} run, ${count} would go`)
await engine.queues.purge('customer-1')
console.log(`forgotten: ${await engine.queues.delete('customer-1')}`)
console.log(`queues left: ${(await engine.queues.list()).map(({ name }) => name).join(', ')}`)

await engine.stop()
rmSync(folder, { recursive: true })
