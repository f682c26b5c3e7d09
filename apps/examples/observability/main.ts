/** What the engine tells of itself: how long jobs wait and run, what a queue has done, and what fails, and how often. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'

const send = defineJob<{ to: number }>({ name: 'send', queue: 'mail', maxAttempts: 2, backoff: { type: 'fixed', delay: 1 } })

const folder = mkdtempSync(join(tmpdir(), 'millrace-observability-'))
const engine = await openEngine({ file: join(folder, 'jobs.db') })
engine.work(
  send.handler(async ({ data: { to } }) => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    if (to % 10 === 0) throw new RangeError(`mailbox ${to} is full`)
  }),
  { concurrency: 10 },
)
const handles = await engine.enqueueMany(Array.from({ length: 100 }, (_, to) => ({ job: send, data: { to } })))
await Promise.allSettled(handles.map((handle) => handle.result({ timeout: '1m' })))

const { names, writer } = await engine.stats()
for (const { name, started, completed, failed, waitMs, runMs } of names) {
  console.log(`${name}: ${started} runs, ${completed} completed, ${failed} failed`)
  console.log(`${name}: waits ${waitMs.p50} ms at p50, runs ${runMs.p50} ms at p50, ${runMs.p99} at p99`)
}
for (const { at, enqueued, completed, failed } of await engine.history({ queue: 'mail', step: 'hour' }))
  console.log(`in the hour of ${at.toISOString()}: ${enqueued} enqueued, ${completed} completed, ${failed} failed`)
for (const { error, count, message } of await engine.failures()) console.log(`${count} times ${error}, the last one: ${message}`)
console.log(`${writer.failedTurns} turns failed; the log has ${writer.walBytes > 0 ? 'some' : 'no'} bytes`)

await engine.stop()
rmSync(folder, { recursive: true })
