import { Engine } from '@millrace/client'
import { DEFAULT_RETENTION, LIMITS } from '@millrace/core'
import { defineJob, systemClock, WriterThread } from '@millrace/engine'

const KILLS = Number(process.argv[3])
let last: any
process.on('worker', (w: any) => {
  last = w
})
let skippedMs = 0
const clock = { read: () => ({ wall: Date.now(), mono: performance.now() + skippedMs }), setTimer: systemClock.setTimer }
const thread = new WriterThread(
  {
    file: process.argv[2]!,
    durability: 'normal',
    recovery: 'immediate',
    waitForOwnerMs: 0,
    cacheKib: 4096,
    retention: DEFAULT_RETENTION,
    unsafeFilesystem: 'refuse',
  } as any,
  clock,
  undefined,
)
await thread.start()
const engine = new Engine(thread, { maxDataBytes: LIMITS.dataBytes, clock, host: 'test', pid: process.pid, local: true } as any)
const work = defineJob({ name: 'work', maxAttempts: 1 })
const child = defineJob({ name: 'child', maxAttempts: 1 })
const handlers: any[] = [
  work.handler(async ({ job, enqueue, checkpoint, log }: any) => {
    log('info', 'running')
    enqueue(child, { parent: job.id })
    if (job.run % 2 === 1) await checkpoint(job.run).catch(() => {})
    return job.id
  }),
  child.handler(() => {}),
]
for (let w = 0; w < 3; w++) engine.work(handlers, { concurrency: 8 })
let stopping = false
async function produce(p: number) {
  for (let t = 0; !stopping; t++) {
    for (;;) {
      try {
        const h = await engine.enqueue(work, null, { idempotencyKey: `${p}-${t}` })
        void h.result().catch(() => {})
        break
      } catch {}
    }
  }
}
const all = Promise.all(Array.from({ length: 20 }, (_, p) => produce(p)))
for (let k = 0; k < KILLS; k++) {
  for (let a = Math.floor(Math.random() * 30); a >= 0; a--) await engine.stats().catch(() => {})
  for (let r = Math.floor(Math.random() * 300); r >= 0; r--) await new Promise((resolve) => setImmediate(resolve))
  skippedMs += 120_000
  await last.terminate()
}
stopping = true
await all
await engine.stop()
console.log('done', KILLS)
