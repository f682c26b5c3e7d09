/**
 * The way back: jobs that Millrace has not finished return to BullMQ. Stop the workers first.
 * `REDIS_URL=redis://localhost:6379 node back.ts FILE`. Run it again if it was stopped half way: no job comes twice.
 */
import { openEngine } from '@millrace/engine'
import { Queue } from 'bullmq'

const [file = 'shop.db'] = process.argv.slice(2)
const engine = await openEngine({ file })
const paint = new Queue('paint', { connection: { url: process.env['REDIS_URL'] ?? 'redis://localhost:6379' } })

let after: string | undefined
do {
  const { jobs, next } = await engine.list({ queue: 'paint', state: ['waiting', 'scheduled'], order: 'oldest', ...(after && { after }) })
  for (const { id, name, data, runAt, priority, attempt, maxAttempts } of jobs) {
    await paint.add(name, data, {
      jobId: id,
      delay: Math.max(0, runAt.getTime() - Date.now()),
      priority: Math.max(0, -priority),
      attempts: maxAttempts - attempt,
    })
    await engine.cancel(id)
    console.log(`${name} is back in Redis`)
  }
  after = next
} while (after !== undefined)
await paint.close()
await engine.stop()
