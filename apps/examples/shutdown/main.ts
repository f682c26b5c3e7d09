/** A program that is told to stop: jobs that run come to their end, those that wait stay in the file, and the next start runs them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineJob, openEngine } from '@millrace/engine'

const render = defineJob<{ frame: number }>({ name: 'render' })
const folder = mkdtempSync(join(tmpdir(), 'millrace-shutdown-'))
const file = join(folder, 'jobs.db')

const engine = await openEngine({ file })
await engine.enqueueMany([1, 2, 3, 4].map((frame) => ({ job: render, data: { frame } })))

const rendered: number[] = []
const busy = Promise.withResolvers<void>()
const told = Promise.withResolvers<void>()
let running = 0
engine.work(
  [
    render.handler(async ({ data }) => {
      if (++running === 2) busy.resolve()
      // A stand-in for work that is not done yet when the signal comes.
      await told.promise
      rendered.push(data.frame)
    }),
  ],
  { concurrency: 2 },
)

// Kubernetes, systemd and Ctrl-C say it so. `stop` takes nothing new at once, and aborts what still runs after `timeout`.
const stopped = new Promise<void>((resolve, reject) => {
  process.once('SIGTERM', () => {
    engine.stop({ timeout: '20s' }).then(resolve, reject)
    told.resolve()
  })
})
await busy.promise
process.kill(process.pid, 'SIGTERM')
await stopped
console.log(`stopped: frames ${rendered.sort().join(' and ')} are rendered`)

await using next = await openEngine({ file })
console.log(`${(await next.stats()).states.waiting} frames waited in the file`)
const done = Promise.withResolvers<void>()
next.on('completed', () => void next.stats().then(({ states }) => states.completed === 4 && done.resolve()))
next.work([render.handler(({ data }) => void rendered.push(data.frame))])
await done.promise
console.log(`rendered in all: ${rendered.sort().join(', ')}`)
rmSync(folder, { recursive: true })
