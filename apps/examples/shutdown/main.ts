/** A program that is told to stop: `node main.ts FOLDER`. Running jobs finish, those that wait stay in the file, and the next start runs them. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { defineJob, openEngine, stopOnSignals } from '@millrace/engine'

const [folder = 'frames'] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })

const render = defineJob<{ frame: number }>({ name: 'render' })
const engine = await openEngine({ file: join(folder, 'jobs.db') })

// Kubernetes and systemd send SIGTERM, Ctrl-C sends SIGINT. Running jobs have 20 s; then the process ends.
stopOnSignals(engine, { timeout: '20s', before: () => console.log('stopping') })

await engine.enqueueMany([1, 2, 3, 4].map((frame) => ({ job: render, data: { frame }, options: { idempotencyKey: `frame-${frame}` } })))
engine.work(
  render.handler(async ({ data, job }) => {
    console.log(`frame ${data.frame} begun, attempt ${job.attempt}`)
    // A stand-in for work that is not done when the signal comes.
    await setTimeout(500)
    console.log(`frame ${data.frame} rendered`)
  }),
  { concurrency: 2 },
)
