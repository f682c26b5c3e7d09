/** A photo service on Graphile Worker, to be moved to Millrace (after.ts): `DATABASE_URL=postgres://... node before.ts`. SIGTERM ends it. */
import { setTimeout } from 'node:timers/promises'
import { Logger, parseCrontab, run, type Task } from 'graphile-worker'
import pg from 'pg'

interface Photo {
  file: string
  broken?: number
}

const connectionString = process.env['DATABASE_URL'] ?? ''
const schema = process.env['SCHEMA'] ?? 'graphile_worker'

// Graphile Worker tells a producer nothing of an end, so the task itself does: this resolves when so many more photos are resized.
const awaited: { left: number; done: () => void }[] = []
const resized = (left: number) => new Promise<void>((done) => awaited.push({ left, done }))

const resize: Task = async (payload, { job }) => {
  const { file, broken = 0 } = payload as Photo
  if (job.attempts <= broken) throw new Error(`${file} is being written`)
  console.log(`worker: resized ${file}`)
  for (const one of awaited) if (--one.left === 0) one.done()
}
const album: Task = async (payload) => {
  console.log(`album: begins ${(payload as Photo).file}`)
  await setTimeout(20)
  console.log(`album: ends ${(payload as Photo).file}`)
}
const print: Task = async () => {
  console.log('printing')
  await setTimeout(500)
  console.log('printed')
}

const crontab = '0 3 * * * resize ?id=nightly&max=3 {"file":"all"}'
const logger = new Logger(() => () => {})
const runner = await run({ connectionString, schema, logger, concurrency: 1, pollInterval: 500, taskList: { resize, print }, crontab })
runner.events.on('job:error', ({ job, error }) => console.log(`worker: attempt ${job.attempts} failed, ${(error as Error).message}`))
runner.events.on('job:failed', ({ job }) => console.log(`worker: given up after ${job.attempts}`))

// Retries: the first attempt fails, the second completes.
const first = resized(1)
await runner.addJob('resize', { file: 'a.png', broken: 1 })
await first

// Given up.
const failed = new Promise((resolve) => runner.events.once('job:failed', resolve))
await runner.addJob('resize', { file: 'lost.png', broken: 9 }, { maxAttempts: 1 })
await failed

// A delay: the second job is done first.
const late = resized(2)
await runner.addJob('resize', { file: 'late.png' }, { runAt: new Date(Date.now() + 1_000) })
await runner.addJob('resize', { file: 'soon.png' })
await late

// A priority: the lowest number starts first.
const client = new pg.Client(connectionString)
await client.connect()
await client.query('BEGIN')
const sql = `SELECT ${schema}.add_job('resize', $1, priority => $2)`
await client.query(sql, [{ file: 'third.png' }, 10])
await client.query(sql, [{ file: 'second.png' }, 0])
await client.query(sql, [{ file: 'first.png' }, -10])
const done = resized(3)
await client.query('COMMIT')
await done

// A transaction that rolls back leaves no job.
await client.query('BEGIN')
await client.query(sql, [{ file: 'never.png' }, 0])
await client.query('ROLLBACK')
await client.end()

// One job at a time for each key, with the data of the last call.
const runAt = new Date(Date.now() + 1_000)
const cover = resized(1)
await runner.addJob('resize', { file: 'draft.png' }, { jobKey: 'cover', runAt })
await runner.addJob('resize', { file: 'cover.png' }, { jobKey: 'cover', runAt })
await cover

// Several jobs at a time, but one after the other for each queue.
const albums = await run({ connectionString, schema, logger, concurrency: 4, taskList: { album } })
const pages = new Promise<void>((resolve) => {
  let left = 2
  albums.events.on('job:success', () => --left === 0 && resolve())
})
for (const file of ['page-1', 'page-2']) await runner.addJob('album', { file }, { queueName: 'album-7' })
await pages

// A schedule.
console.log(`schedules: ${parseCrontab(crontab).map(({ identifier }) => identifier)}`)

// The end: runners listen for SIGTERM. Running jobs finish, the others stay in the database.
for (let copy = 0; copy < 2; copy++) await runner.addJob('print', {})
