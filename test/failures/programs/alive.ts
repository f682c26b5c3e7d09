/** Does one thing with an engine, never stops it, and ends when nothing keeps it alive: `alive.ts <scenario> <file>`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { defineJob, openEngine } from '@millrace/engine'

const [scenario, file] = process.argv.slice(2) as [string, string]
const say = (line: string) => process.stdout.write(`${line}\n`)
const job = defineJob({ name: 'a' })

let writer: Worker | undefined
process.once('worker', (thread) => {
  writer = thread
})

const SCENARIOS: Readonly<Record<string, () => Promise<void>>> = {
  // Idle: each ends by itself.
  async nothing() {
    await openEngine({ file })
  },
  async enqueued() {
    const engine = await openEngine({ file })
    await engine.enqueueMany([{ job }, { job, options: { delay: '1h' } }])
  },
  async asked() {
    const engine = await openEngine({ file })
    const { id } = await engine.enqueue(job)
    say(`${(await engine.get(id))?.state} ${(await engine.list()).jobs.length} ${(await engine.stats()).states.waiting}`)
  },
  async listening() {
    const engine = await openEngine({ file })
    engine.on('*', () => {})
    await engine.enqueue(job)
  },
  async stoppedWorker() {
    const engine = await openEngine({ file })
    const worker = engine.work([job.handler(() => say('ran'))])
    await (await engine.enqueue(job)).result()
    await worker.stop()
  },
  async refused() {
    const engine = await openEngine({ file })
    await engine.cancel('01890000-0000-7000-8000-000000000001').catch((error) => say(error.code))
  },
  async brokenCall() {
    const engine = await openEngine({ file })
    const dead = writer?.terminate()
    await engine.enqueue(job).catch((error) => say(error.code))
    await dead
  },
  async brokenAndBack() {
    const engine = await openEngine({ file })
    await writer?.terminate()
    say(`created ${(await engine.enqueue(job)).created}`)
  },
  async unheard() {
    // Where the socket of a shared file belongs there is something else.
    mkdirSync(`${file}-share`, { mode: 0o700 })
    writeFileSync(`${file}-share/socket`, 'a file')
    const engine = await openEngine({ file, share: true })
    say(`created ${(await engine.enqueue(job)).created}`)
  },
  async forgotten() {
    void openEngine({ file }).then(() => say('open'))
  },
  // At work: each ends when its work does.
  async worker() {
    const engine = await openEngine({ file })
    const worker = engine.work([
      job.handler(() => {
        say('ran')
        void worker.stop()
      }),
    ])
    await engine.enqueue(job, null, { delay: 300 })
  },
  async workerAfterDeath() {
    const engine = await openEngine({ file })
    const worker = engine.work([
      job.handler(() => {
        say('ran')
        void worker.stop()
      }),
    ])
    await engine.enqueue(job, null, { delay: 600 })
    await writer?.terminate()
  },
  async result() {
    const engine = await openEngine({ file })
    const handle = await engine.enqueue('nobody')
    await handle.result({ timeout: 300 }).catch((error) => say(error.code))
  },
  async openCall() {
    const engine = await openEngine({ file })
    void engine.enqueue(job).then(() => say('enqueued'))
  },
  async backup() {
    const engine = await openEngine({ file })
    await engine.enqueue(job)
    void engine.backup(`${file}.copy`).then(({ bytes }) => say(`copied ${bytes > 0}`))
  },
  async stopping() {
    const engine = await openEngine({ file })
    engine.work([job.handler(() => new Promise((resolve) => setTimeout(resolve, 200)))])
    await engine.enqueue(job)
    void engine.stop().then(() => say('stopped'))
  },
}

await SCENARIOS[scenario]?.()
