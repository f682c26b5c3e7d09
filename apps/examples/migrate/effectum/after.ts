/** A reminder service of effectum on Millrace: `node after.ts FILE`. */
import { setTimeout } from 'node:timers/promises'
import { defineJob, JobFinishedError, openEngine } from '@millrace/engine'

const [file = 'jobs.db'] = process.argv.slice(2)
const engine = await openEngine({ file, logger: false })

interface Reminder {
  email: string
  message: string
}
const remindMe = defineJob<Reminder, string>({ name: 'remind_me' })
const importRows = defineJob<{ rows: number }, number>({ name: 'import_rows', backoff: { type: 'fixed', delay: 0 } })
const transcode = defineJob<{ file: string }>({ name: 'transcode', weight: 6 })

let weight = 0
let heaviest = 0
const worker = engine.work(
  [
    remindMe.handler(({ data }) => `told ${data.email}: ${data.message}`),
    importRows.handler(async ({ data, job, checkpoint }) => {
      for (let row = (job.checkpoint as number | undefined) ?? 0; row < data.rows; row++) {
        if (row === 2 && job.attempt === 1) throw new Error('the connection broke')
        console.log(`attempt ${job.attempt}: row ${row}`)
        await checkpoint(row + 1)
      }
      return data.rows
    }),
    transcode.handler(async ({ job }) => {
      weight += job.weight
      heaviest = Math.max(heaviest, weight)
      await setTimeout(50)
      weight -= job.weight
    }),
  ],
  { minConcurrency: 5, maxConcurrency: 10 },
)

// A job in an hour, which is then wanted at once.
const hour = new Date(Date.now() + 3_600_000)
const handle = await engine.enqueue(remindMe, { email: 'me@example.com', message: 'Time to go!' }, { runAt: hour, tags: ['trip'] })
console.log(`state: ${(await engine.get(handle.id))?.state}`)
await engine.update(handle.id, { runAt: new Date(), priority: 5 })
console.log(await handle.result())

// A running job can be cancelled, an ended one cannot.
const other = await engine.enqueue(remindMe, { email: 'you@example.com', message: 'Never mind' }, { runAt: hour })
console.log(`cancelled: ${await engine.cancel(other.id)}`)
const tooLate = await engine.cancel(handle.id).catch((error: Error) => error)
console.log(`too late: ${tooLate instanceof JobFinishedError}`)

// A checkpoint: the second attempt continues where the first one failed.
const rows = await engine.enqueue(importRows, { rows: 4 })
console.log(`imported ${await rows.result()} rows`)
for (const { attempt, error } of (await engine.get(rows.id))?.attempts ?? []) console.log(`run ${attempt}: ${error?.message ?? 'success'}`)

// A weight: two jobs of six are more than ten.
const videos = await engine.enqueueMany([transcode.job({ file: 'a.mp4' }), transcode.job({ file: 'b.mp4' })])
await Promise.all(videos.map((video) => video.result()))
console.log(`heaviest: ${heaviest}`)

// A recurring job.
const data = { email: 'me@example.com', message: 'Stand up' }
await engine.schedules.upsert('stand-up/me', { every: '1h', runImmediately: true }, { job: remindMe, data })
const { schedules } = await engine.schedules.list({ prefix: 'stand-up/' })
console.log(`recurring: ${schedules.map(({ id }) => id)}`)
await engine.schedules.delete('stand-up/me')

// The end.
console.log(`by tag: ${(await engine.list({ tag: 'trip' })).jobs.length}, active: ${(await engine.stats()).states.active}`)
await worker.stop()
await engine.stop({ timeout: '10s' })
