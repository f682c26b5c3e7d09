/** The photo service of before.ts on Millrace, in the same database: `DATABASE_URL=postgres://... node after.ts`. SIGTERM ends it. */
import { setTimeout } from 'node:timers/promises'
import { type Context, defineJob, openEngine, stopOnSignals } from '@millrace/engine'
import { enqueueBySql } from '@millrace/outbox'
import pg from 'pg'

interface Photo {
  file: string
  broken?: number
}

const connectionString = process.env['DATABASE_URL'] ?? ''
const schema = process.env['SCHEMA'] ?? 'millrace'

const resize = defineJob<Photo>({ name: 'resize' })
const album = defineJob<Photo>({ name: 'album' })
const print = defineJob({ name: 'print' })

const resizePhoto = ({ data, job }: Context<Photo>) => {
  const { file, broken = 0 } = data
  if (job.attempt <= broken) throw new Error(`${file} is being written`)
  console.log(`worker: resized ${file}`)
}
const addToAlbum = async ({ data }: Context<Photo>) => {
  console.log(`album: begins ${data.file}`)
  await setTimeout(20)
  console.log(`album: ends ${data.file}`)
}
const printPhoto = async () => {
  console.log('printing')
  await setTimeout(500)
  console.log('printed')
}

const backoff = { type: 'exponential', delay: 2_718, factor: Math.E, maxDelay: '6h' } as const
const engine = await openEngine({
  postgres: connectionString,
  schema,
  defaults: { maxAttempts: 25, backoff, timeout: '4h' },
  retention: { failed: 'forever' },
})
engine.work([resize.handler(resizePhoto), print.handler(printPhoto)], { concurrency: 1 })
engine.on('retrying', ({ attempt, message }) => console.log(`worker: attempt ${attempt} failed, ${message}`))
engine.on('failed', ({ attempt, message }) => {
  console.log(`worker: attempt ${attempt} failed, ${message}`)
  console.log(`worker: given up after ${attempt}`)
})

// Retries: the first attempt fails, the second completes.
const first = await engine.enqueue(resize, { file: 'a.png', broken: 1 })
await first.result()

// Given up.
const lost = await engine.enqueue(resize, { file: 'lost.png', broken: 9 }, { maxAttempts: 1 })
await lost.result().catch(() => {})

// A delay: the second job is done first.
const late = await engine.enqueue(resize, { file: 'late.png' }, { runAt: new Date(Date.now() + 1_000) })
await engine.enqueue(resize, { file: 'soon.png' })
await late.result()

// A priority: the highest number starts first.
const client = new pg.Client(connectionString)
await client.connect()
await client.query('BEGIN')
const enqueue = enqueueBySql(schema)
const third = await client.query(enqueue(resize, { file: 'third.png' }, { priority: -10 }))
await client.query(enqueue(resize, { file: 'second.png' }, { priority: 0 }))
await client.query(enqueue(resize, { file: 'first.png' }, { priority: 10 }))
const done = new Promise<void>((resolve) => engine.on('completed', ({ jobId }) => jobId === third.rows[0].id && resolve()))
await client.query('COMMIT')
await done

// A transaction that rolls back leaves no job.
await client.query('BEGIN')
await client.query(enqueue(resize, { file: 'never.png' }))
await client.query('ROLLBACK')
await client.end()

// One job at a time for each key, with the data of the last call.
const runAt = new Date(Date.now() + 1_000)
const unique = { key: 'cover', onConflict: 'replace', until: 'start' } as const
await engine.enqueue(resize, { file: 'draft.png' }, { unique, runAt })
const cover = await engine.enqueue(resize, { file: 'cover.png' }, { unique, runAt })
await cover.result()

// Several jobs at a time, but one after the other for each key.
await engine.queues.configure('default', { perKeyLimit: 1 })
engine.work(album.handler(addToAlbum), { concurrency: 4 })
const pages: Promise<unknown>[] = []
for (const file of ['page-1', 'page-2']) pages.push((await engine.enqueue(album, { file }, { concurrencyKey: 'album-7' })).result())
await Promise.all(pages)

// A schedule.
await engine.schedules.upsert(
  'nightly',
  { cron: '0 3 * * *', overlap: 'allow', catchUp: 'none' },
  { job: resize, data: { file: 'all' }, options: { maxAttempts: 3 } },
)
console.log(`schedules: ${(await engine.schedules.list()).schedules.map(({ id }) => id)}`)

// The end: running jobs finish, the others stay in the database.
stopOnSignals(engine)
for (let copy = 0; copy < 2; copy++) await engine.enqueue(print)
