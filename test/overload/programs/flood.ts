/**
 * Calls `enqueue` without awaiting, far more often than jobs can be taken: `flood.ts <file> <jobs to be taken, and to be refused>`.
 * Says what was taken, what was refused, and its memory.
 */
import { setImmediate as nextRound } from 'node:timers/promises'
import { BusyError, defineJob, openEngine } from '@millrace/engine'
import { MemoryWatch } from '../../proof/torture/memory.ts'

const [file, wanted] = process.argv.slice(2) as [string, string]
const BURST = 100_000
// A burst's refusals live until its round of the event loop is over: their stacks, which nobody reads, would be most of what is measured.
Error.stackTraceLimit = 0
const SAMPLES = 40
const TEXT = 'x'.repeat(60)
const job = defineJob({ name: 'flood' })

const memory = new MemoryWatch()
const engine = await openEngine({ file, durability: 'normal' })
memory.begin()

let calls = 0
let taken = 0
let busy = 0
/** Refusals that do not say when to try again. */
let mute = 0
const others = new Set<string>()

function take(): void {
  taken++
}

function refuse(error: unknown): void {
  busy++
  if (!(error instanceof BusyError)) others.add(String(error))
  else if (!(error.retryable && error.retryAfter > 0)) mute++
}

const began = performance.now()
let sampled = 0
// However the machine shares itself between the two threads: until as many were refused.
while (taken < Number(wanted) || busy < Number(wanted)) {
  for (let call = 0; call < BURST; call++) engine.enqueue(job, { call: calls + call, text: TEXT }).then(take, refuse)
  calls += BURST
  await nextRound()
  const at = taken / Number(wanted)
  if (at * SAMPLES < sampled) continue
  sampled++
  await memory.sample(Math.min(1, at))
}
const inTime = taken
const seconds = (performance.now() - began) / 1_000
// What was called last is answered as well.
await engine.stop()
await nextRound()
process.stdout.write(
  `flood ${JSON.stringify({ calls, inTime, taken, busy, mute, others: [...others], seconds, memory: memory.report() })}\n`,
)
