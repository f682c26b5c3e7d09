/** An async iterable without end, given to `enqueueMany`; ended after so many by an error: `endless.ts <file> <jobs>`. */
import { defineJob, openEngine } from '@millrace/engine'
import { MemoryWatch } from '../../proof/torture/memory.ts'

const [file, count] = process.argv.slice(2) as [string, string]
const JOBS = Number(count)
const SAMPLES = 60
const job = defineJob({ name: 'endless' })

const memory = new MemoryWatch()
const engine = await openEngine({ file, durability: 'normal' })
memory.begin()
let pulled = 0
let aheadMost = 0

async function* jobs() {
  let sampled = 0
  for (;;) {
    if (pulled === JOBS) throw new Error('enough')
    if ((pulled / JOBS) * SAMPLES >= sampled) {
      sampled++
      // How far it has been read ahead of what is in the file.
      aheadMost = Math.max(aheadMost, pulled - (await engine.stats()).totals.enqueued)
      await memory.sample(pulled / JOBS)
    }
    pulled++
    yield { job, data: { pulled } }
  }
}

const committed = await engine.enqueueMany(jobs()).catch((error: Error & { committed?: number }) => error.committed)
const { enqueued } = (await engine.stats()).totals
await engine.stop()
process.stdout.write(`endless ${JSON.stringify({ pulled, committed, enqueued, aheadMost, memory: memory.report() })}\n`)
