/**
 * Payloads of a mebibyte in bulk, called without awaiting, and results of the same size: `huge.ts <file> <calls> <waves>`. Says what
 * was taken, what was refused, and the memory of it.
 */
import { BusyError, defineJob, openEngine } from '@millrace/engine'
import { MemoryWatch } from '../../proof/torture/memory.ts'

const [file, calls, waves] = process.argv.slice(2) as [string, string, string]
/** JSON adds two quotation marks. */
const TEXT = 'x'.repeat(2 ** 20 - 2)
const job = defineJob<string>({ name: 'huge' })

const memory = new MemoryWatch()
const engine = await openEngine({ file, durability: 'normal', retention: { completed: 0 } })
let runs = 0
engine.work(
  [
    job.handler(({ data }) => {
      runs++
      return data
    }),
  ],
  { concurrency: 4 },
)
memory.begin()
let taken = 0
let busy = 0
let wrong = 0
for (let wave = 0; wave < Number(waves); wave++) {
  const settled = await Promise.allSettled(Array.from({ length: Number(calls) }, () => engine.enqueue(job, TEXT)))
  for (const outcome of settled) {
    if (outcome.status === 'fulfilled') taken++
    else if (outcome.reason instanceof BusyError && outcome.reason.retryAfter > 0) busy++
    else wrong++
  }
  await memory.sample((wave + 1) / Number(waves))
}
// The ends of the jobs are told by their results.
await new Promise<void>((resolve) => {
  const look = () => void engine.stats().then(({ states }) => states.waiting + states.active === 0 && resolve())
  engine.on('completed', look)
  look()
})
const { totals } = await engine.stats()
await engine.stop()
process.stdout.write(`huge ${JSON.stringify({ taken, busy, wrong, runs, totals, memory: memory.report() })}\n`)
