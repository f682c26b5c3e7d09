/** So many jobs while a thread listens to all events, slowly or never: `audience.ts <file> <jobs> slow|never|nobody`. */
import { once } from 'node:events'
import { type MessagePort, Worker } from 'node:worker_threads'
import { defineJob, openEngine } from '@millrace/engine'
import { MemoryWatch } from '../../proof/torture/memory.ts'

const [file, count, how] = process.argv.slice(2) as [string, string, 'slow' | 'never' | 'nobody']
const JOBS = Number(count)
const BATCH = 1_000
const SAMPLES = 60
const job = defineJob({ name: 'told' })

const memory = new MemoryWatch()
const engine = await openEngine({ file, durability: 'normal', retention: { completed: { count: 5_000 }, journal: { bytes: 4 * 2 ** 20 } } })
engine.work([job.handler(() => {})], { concurrency: 200 })
let thread: Worker | undefined
if (how !== 'nobody') {
  const port = engine.port() as MessagePort
  thread = new Worker(new URL('./audienceThread.ts', import.meta.url), { workerData: { port, how }, transferList: [port] })
  await once(thread, 'message')
}
memory.begin()
let sampled = 0
let ended = 0
for (let enqueued = 0; enqueued < JOBS; enqueued += BATCH) {
  const handles = await engine.enqueueMany(Array.from({ length: BATCH }, (_, index) => ({ job, data: { index } })))
  await Promise.all([handles[0]?.result(), handles.at(-1)?.result()])
  ended += handles.length
  if ((enqueued / JOBS) * SAMPLES < sampled) continue
  sampled++
  await memory.sample(enqueued / JOBS)
}
await thread?.terminate()
await engine.stop()
process.stdout.write(`audience ${JSON.stringify({ ended, memory: memory.report() })}\n`)
