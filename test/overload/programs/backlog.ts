/** A worker whose handlers never come to an end, and so many jobs that wait behind it: `backlog.ts <file> <jobs>`. */
import { once } from 'node:events'
import { defineJob, openEngine } from '@millrace/engine'
import { MemoryWatch } from '../../proof/torture/memory.ts'

const [file, count] = process.argv.slice(2) as [string, string]
const JOBS = Number(count)
const BATCH = 1_000
const SAMPLES = 60
const job = defineJob({ name: 'behind' })

const memory = new MemoryWatch()
const engine = await openEngine({ file, durability: 'normal' })
let running = 0
engine.work(
  [
    job.handler(async ({ signal }) => {
      running++
      await once(signal, 'abort')
      throw signal.reason
    }),
  ],
  { concurrency: 10 },
)
memory.begin()
let sampled = 0
for (let enqueued = 0; enqueued < JOBS; enqueued += BATCH) {
  await engine.enqueueMany(Array.from({ length: BATCH }, (_, index) => ({ job, data: { index, text: 'x'.repeat(100) } })))
  if ((enqueued / JOBS) * SAMPLES < sampled) continue
  sampled++
  await memory.sample(enqueued / JOBS)
}
const { waiting, active } = (await engine.stats()).states
await engine.stop({ timeout: 0 })
process.stdout.write(`backlog ${JSON.stringify({ waiting, active, running, memory: memory.report() })}\n`)
