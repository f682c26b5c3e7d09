// Requirements that ask for a Postgres by name: T1 to T4, T7 and T8, and the compose file of T9.
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { type Context, defineJob, type Engine, openEngine, type WorkOptions } from '@millrace/engine'
import pg from 'pg'
import { expect, onTestFinished } from 'vitest'
import { startProgram } from '../program.ts'
import { Member } from '../share/members.ts'
import { temporaryFolder } from '../temporary.ts'
import { shareEngine } from './sharedEngine.ts'
import { test as base, type TestSchema } from './test.ts'

const shared = shareEngine()
const test = base.extend('shared', ({ skip }) => shared({ skip }))

const MAIN = new URL('../../apps/millrace/src/main.ts', import.meta.url)
const COMPOSE = readFileSync(new URL('../../apps/millrace/compose.postgres.yaml', import.meta.url), 'utf8')

async function open({ url, schema }: TestSchema): Promise<Engine> {
  const engine = await openEngine({ postgres: url, schema, durability: 'normal', logger: false })
  onTestFinished(() => engine.stop())
  return engine
}

function work(engine: Engine, name: string, run: (context: Context<unknown>) => unknown, options?: WorkOptions): void {
  engine.work([defineJob({ name }).handler(run)], options)
}

test('T8: happy path', async ({ shared: { engine } }) => {
  work(engine, 'double', ({ data }) => (data as number) * 2)
  const job = await engine.enqueue('double', 21)
  expect(await job.result()).toBe(42)
  expect(await engine.get(job.id)).toMatchObject({ state: 'completed', output: 42, attempt: 1 })
})

test('T2, T8: a job that always fails is retried, and is failed after its last attempt', async ({ shared: { engine } }) => {
  let attempts = 0
  work(engine, 'wrong', () => {
    attempts++
    throw new Error('no')
  })
  const job = await engine.enqueue('wrong', null, { maxAttempts: 3, backoff: { type: 'fixed', delay: 1 } })
  await expect(job.result()).rejects.toThrow('no')
  expect(attempts).toBe(3)
  expect(await engine.get(job.id)).toMatchObject({ state: 'failed', attempt: 3 })
})

test('T1, T4, T8: 50 jobs and 4 workers: each job runs once', async ({ shared: { engine } }) => {
  const ran: number[] = []
  for (let worker = 0; worker < 4; worker++)
    work(
      engine,
      'count',
      async ({ data }) => {
        ran.push(data as number)
        await delay(1)
      },
      { concurrency: 2 },
    )
  const jobs = await engine.enqueueMany(Array.from({ length: 50 }, (_, data) => ({ job: 'count', data })))
  await Promise.all(jobs.map((job) => job.result()))
  expect(ran.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 50 }, (_, data) => data))
})

test('T2, T8: a handler that hangs loses its job to another run', async ({ shared: { engine } }) => {
  let runs = 0
  work(engine, 'hangs', ({ signal }) =>
    ++runs === 1 ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))) : 'done',
  )
  const job = await engine.enqueue('hangs', null, { timeout: '100ms', maxAttempts: 2, backoff: { type: 'fixed', delay: 1 } })
  expect(await job.result()).toBe('done')
})

test('T2: a job whose process always dies ends as failed', async ({ shared: { engine, url, schema } }) => {
  const { id } = await engine.enqueue('job', { n: 1, ms: 60_000 }, { maxAttempts: 3, backoff: { type: 'fixed', delay: 1 } })
  for (let death = 0; death < 3; death++) {
    const worker = await Member.start({ postgres: url, schema, durability: 'normal', role: 'client' }, 'worker')
    await worker.until((fact) => fact['started'] === 1)
    await worker.kill()
  }
  await expect.poll(() => engine.get(id)).toMatchObject({ state: 'failed', attempt: 3 })
})

test('T3: equal jitter: half of the delay, and a random part of the other half', async ({ shared: { engine } }) => {
  work(engine, 'jitter', () => {
    throw new Error('no')
  })
  // Long enough for a slow machine to read all of them before the first is due.
  const backoff = { type: 'exponential', delay: '4m', maxDelay: '5m', jitter: 'equal' } as const
  const jobs = await engine.enqueueMany(Array.from({ length: 20 }, () => ({ job: 'jitter', options: { maxAttempts: 2, backoff } })))
  await expect.poll(async () => (await engine.stats()).retrying).toBe(20)
  for (const { id } of jobs) {
    const job = await engine.get(id)
    const waited = (job?.runAt?.getTime() ?? 0) - (job?.attempts?.at(-1)?.endedAt?.getTime() ?? 0)
    expect(waited).toBeGreaterThanOrEqual(120_000)
    expect(waited).toBeLessThanOrEqual(240_000)
  }
})

test('T4: in a while, and at a time', async ({ shared: { engine } }) => {
  const at = new Date(Date.now() + 3_600_000)
  const [later, then] = [await engine.enqueue('later', null, { delay: '1h' }), await engine.enqueue('later', null, { runAt: at })]
  expect(await engine.get(then.id)).toMatchObject({ state: 'scheduled', runAt: at })
  expect((await engine.get(later.id))?.state).toBe('scheduled')
  await engine.runNow(later.id)
  work(engine, 'later', () => 'ran')
  expect(await later.result()).toBe('ran')
})

test('T1: starting and completing a job reads and writes by keys alone', async ({ postgres }) => {
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  onTestFinished(() => client.end())
  /** A session has counted all that it did when it is gone. */
  const scansAfter = async (engine: Engine): Promise<{ readonly ofAll: number; readonly byKey: number }> => {
    await engine.stop()
    const sessions = `SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'millrace ${postgres.schema}%'`
    await expect.poll(async () => (await client.query(sessions)).rowCount).toBe(0)
    const scans = `SELECT sum(seq_scan)::int AS "ofAll", sum(idx_scan)::int AS "byKey" FROM pg_stat_user_tables
      WHERE schemaname = '${postgres.schema}' AND relname = 'job'`
    return (await client.query(scans)).rows[0]
  }
  // An index of a new table is built by a scan of it.
  const created = await scansAfter(await open(postgres))
  const engine = await open(postgres)
  work(engine, 'a', () => {})
  const jobs = await engine.enqueueMany(Array.from({ length: 200 }, () => ({ job: 'a' })))
  await Promise.all(jobs.map((job) => job.result()))
  const after = await scansAfter(engine)
  expect(after.byKey).toBeGreaterThan(created.byKey)
  expect(after.ofAll).toBe(created.ofAll)
})

test('T7, T9: the compose file: tables are migrated once, then a daemon, a worker and a producer share the queue', async ({
  durable: { url, schema },
}) => {
  const commands = [...COMPOSE.matchAll(/^ {2}(\w+):\n {4}<<: \*millrace(?:\n {4}(?!command).*)*(?:\n {4}command: (\[.*\]))?/gm)].map(
    ([, service, command]) => [service as string, JSON.parse((command ?? '["serve"]').replaceAll("'", '"')) as string[]] as const,
  )
  expect(Object.fromEntries(commands)).toEqual({
    migrate: ['migrate'],
    millrace: ['serve'],
    worker: ['demo', 'worker', '--fail-percent', '20'],
    producer: ['demo', 'producer', '--rate', '5'],
  })
  const within = [
    ...['env', '-C', temporaryFolder(), `MILLRACE_POSTGRES=${url}`, `MILLRACE_SCHEMA=${schema}`],
    ...['MILLRACE_AUTO_MIGRATE=false', 'MILLRACE_HTTP_PORT=0', 'MILLRACE_LOG_FORMAT=json'],
  ]
  const start = (service: string) => startProgram(MAIN, Object.fromEntries(commands)[service] as string[], within)
  expect(await start('migrate').ended).toMatchObject({ code: 0 })
  const daemon = start('millrace')
  await daemon.said(/"msg":"serving"/)
  start('worker')
  const producer = start('producer')
  const engine = await open({ url, schema })
  await expect.poll(async () => (await engine.stats()).totals.completed).toBeGreaterThan(3)
  expect((await engine.stats()).workers).toBeGreaterThan(0)
  await producer.kill()
  daemon.child.kill('SIGTERM')
  expect((await daemon.ended).code).toBe(0)
})
