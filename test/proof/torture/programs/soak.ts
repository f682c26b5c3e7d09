/** So many jobs through one engine, producers and workers in one process, with its memory sampled: `soak.ts <file> <jobs>`. */
import { statSync } from 'node:fs'
import { setImmediate as nextRound } from 'node:timers/promises'
import { defineJob, openEngine } from '@millrace/engine'
import { MemoryWatch } from '../memory.ts'

const [file, count] = process.argv.slice(2) as [string, string]
const JOBS = Number(count)
const SAMPLES = 60
const BATCH = 500
/** Open at a time. */
const BATCHES = 4
const job = defineJob({ name: 'soak' })

const memory = new MemoryWatch()
const engine = await openEngine({
  file,
  durability: 'normal',
  retention: { completed: { count: 5_000 }, journal: { bytes: 4 * 2 ** 20 } },
})
let runs = 0
engine.work([job.handler(() => void runs++)], { concurrency: 200 })
memory.begin()

let enqueued = 0
let sampled = 0
const fileMib: number[] = []
async function produce(): Promise<void> {
  while (enqueued < JOBS) {
    enqueued += BATCH
    const handles = await engine.enqueueMany(Array.from({ length: BATCH }, (_, index) => ({ job, data: { index } })))
    await handles.at(-1)?.result()
    const at = Math.min(1, runs / JOBS)
    if (at * SAMPLES < sampled) continue
    sampled++
    fileMib.push(statSync(file).size / 2 ** 20)
    await memory.sample(at)
  }
}
await Promise.all(Array.from({ length: BATCHES }, produce))
while ((await engine.stats()).states.waiting + (await engine.stats()).states.active > 0) await nextRound()
const { totals, writer } = await engine.stats()
await engine.stop()
process.stdout.write(`soak ${JSON.stringify({ enqueued, runs, totals, reloads: writer.reloads, memory: memory.report(), fileMib })}\n`)
