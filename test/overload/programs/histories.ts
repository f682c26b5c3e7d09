/**
 * One run that logs without end, one job that fails without end, one result that is too long: `histories.ts <file> <lines> <failures>`.
 * Says what is kept of each.
 */
import { defineJob, JobFailedError, openEngine } from '@millrace/engine'
import { MemoryWatch } from '../../proof/torture/memory.ts'

const [file, lines, failures] = process.argv.slice(2) as [string, string, string]
const chatty = defineJob({ name: 'chatty' })
const failing = defineJob({ name: 'failing', maxAttempts: Number(failures), backoff: { type: 'fixed', delay: 0 } })
const large = defineJob({ name: 'large', maxAttempts: 1 })

const memory = new MemoryWatch()
const engine = await openEngine({ file, durability: 'normal' })
let attempts = 0
engine.work([
  chatty.handler(({ log }) => {
    for (let line = 1; line <= Number(lines); line++) log('info', `line ${line} ${'l'.repeat(line === Number(lines) ? 10_000 : 20)}`)
    throw new Error('said enough')
  }),
  failing.handler(() => {
    attempts++
    const error = new Error(`failure ${attempts} ${'m'.repeat(10_000)}`)
    error.stack = 's'.repeat(50_000)
    throw error
  }),
  large.handler(() => 'o'.repeat(2 ** 21)),
])
memory.begin()
await memory.sample(0)
const talk = await engine.enqueue(chatty, null, { maxAttempts: 1 })
await talk.result().catch(() => {})
await memory.sample(0.3)
const fail = await engine.enqueue(failing)
const failed = await fail.result().catch((error) => error instanceof JobFailedError)
await memory.sample(0.9)
const result = await engine.enqueue(large)
const refused = await result.result().catch((error: Error) => `${error.name}: ${(error.cause as Error | undefined)?.name}`)
const logs = (await engine.get(talk.id))?.attempts.flatMap((attempt) => attempt.logs) ?? []
const kept = (await engine.get(fail.id))?.attempts ?? []
await engine.stop()
const facts = {
  logs: logs.length,
  lastLog: logs.at(-1)?.message.slice(0, 20),
  logLength: logs.at(-1)?.message.length,
  failed,
  attempts,
  kept: kept.length,
  keptRuns: [kept[0]?.run, kept.at(-1)?.run],
  messageLength: kept.at(-1)?.error?.message.length,
  stackLength: kept.at(-1)?.error?.stack?.length,
  refused,
}
process.stdout.write(`histories ${JSON.stringify({ ...facts, memory: memory.report() })}\n`)
