// apps/examples/migrate/graphile-worker, and what docs/migrate/graphile-worker.md says of it: the real one runs, on a real Postgres.
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { openEngine } from '@millrace/engine'
import { Logger, makeWorkerUtils, type RunnerOptions, run, type WorkerUtils } from 'graphile-worker'
import { expect, onTestFinished } from 'vitest'
import { foreignSnippets, runUntil, startMoved } from '../examples/migrate.ts'
import { durableServer, test } from './test.ts'

const logger = new Logger(() => () => {})

async function utilsOf(connectionString: string, schema: string): Promise<WorkerUtils> {
  const utils = await makeWorkerUtils({ connectionString, schema, logger })
  onTestFinished(async () => utils.release())
  await utils.migrate()
  return utils
}

const jobsOf = (utils: WorkerUtils, schema: string) =>
  utils.withPgClient(async (client) => (await client.query(`SELECT * FROM "${schema}".jobs ORDER BY id`)).rows as Record<string, unknown>[])

test('the photo service does the same before and after, and the way back brings each job once', async ({ postgres: { schema } }) => {
  const url = await durableServer()
  const env = { DATABASE_URL: url, SCHEMA: `${schema}_new`, WORKER_SCHEMA: schema }
  const before = await runUntil(startMoved('graphile-worker/before.ts', { ...env, SCHEMA: schema }), /^printing$/)
  const after = await runUntil(startMoved('graphile-worker/after.ts', env), /^printing$/)
  expect(before.worker.map((line) => line.slice('worker: '.length))).toEqual([
    'attempt 1 failed, a.png is being written',
    'resized a.png',
    'attempt 1 failed, lost.png is being written',
    'given up after 1',
    ...['soon', 'late', 'first', 'second', 'third', 'cover'].map((photo) => `resized ${photo}.png`),
  ])
  expect(before.main).toEqual([
    ...['album: begins page-1', 'album: ends page-1', 'album: begins page-2', 'album: ends page-2'],
    'schedules: nightly',
    // The second one stays where it is.
    'printing',
    'printed',
  ])
  const { stderr, ...printed } = after
  expect({ ...printed, stderr: '' }).toEqual(before)
  expect(stderr).toContain("job 'resize' failed at attempt 1 of 25 and is tried again: Error: a.png is being written")

  // Left: one print.
  const runAt = new Date(Date.now() + 3_600_000)
  const engine = await openEngine({ postgres: url, schema: env.SCHEMA })
  const { id } = await engine.enqueue('resize', { file: 'z.png' }, { runAt, priority: 3, maxAttempts: 5 })
  await engine.stop()
  const utils = await utilsOf(url, schema)
  for (const lines of [['print is back in Graphile Worker', 'resize is back in Graphile Worker'], []]) {
    const program = startMoved('graphile-worker/back.ts', env)
    expect(await program.ended).toEqual({ code: 0, signal: null, stderr: '' })
    expect(program.lines).toEqual(lines)
  }
  const back = (await jobsOf(utils, schema)).filter(({ key }) => key === id)
  expect(back).toMatchObject([{ task_identifier: 'resize', priority: -3, max_attempts: 5, run_at: runAt }])
})

test('the traps are true of Graphile Worker', async ({ postgres: { url, schema } }) => {
  const utils = await utilsOf(url, schema)
  // 25 attempts; the first delay is e seconds, and only the engine of the database knows it.
  const added = await utils.addJob('fails', {})
  expect(added).toMatchObject({ max_attempts: 25, priority: 0, attempts: 0 })
  // A key replaces what waits, by default.
  const draft = await utils.addJob('mail', { n: 1 }, { jobKey: 'k' })
  expect((await utils.addJob('mail', { n: 2 }, { jobKey: 'k' })).id).toBe(draft.id)
  // Another name with the same key is the same job.
  expect((await utils.addJob('other', { n: 3 }, { jobKey: 'k' })).id).toBe(draft.id)

  const events = new EventEmitter() as NonNullable<RunnerOptions['events']>
  const options = { connectionString: url, schema, logger, events, noHandleSignals: true, pollInterval: 100 }
  const seen: string[] = []
  const runner = await run({
    ...options,
    taskList: {
      fails: () => Promise.reject(new Error('always')),
      other: async (payload) => void seen.push(`other ${JSON.stringify(payload)}`),
      // An array may succeed in part: the items whose promise fails are tried again, alone.
      many: async (payload) => (payload as number[]).map((item) => (item === 2 ? Promise.reject(new Error('two')) : Promise.resolve())),
    },
  })
  onTestFinished(() => runner.stop())
  runner.events.on('job:error', ({ job }) => seen.push(`error ${job.task_identifier}`))
  runner.events.on('job:failed', ({ job }) => seen.push(`failed ${job.task_identifier}`))
  await expect.poll(() => seen.toSorted()).toEqual(['error fails', 'other {"n":3}'])
  // A completed job is gone; a failed one waits for its next attempt.
  await expect
    .poll(async () => (await jobsOf(utils, schema)).map((job) => [job['task_identifier'], job['attempts']]))
    .toEqual([['fails', 1]])
  const [job = {}] = await jobsOf(utils, schema)
  expect(Math.abs(Number(job['run_at']) - Number(job['updated_at']) - 1_000 * Math.E)).toBeLessThan(500)

  await utils.addJob('many', [1, 2, 3])
  await expect.poll(() => seen).toContain('error many')
  await expect
    .poll(() =>
      utils.withPgClient(
        async (client) => (await client.query(`SELECT payload FROM "${schema}"._private_jobs WHERE payload::text LIKE '[%'`)).rows,
      ),
    )
    .toEqual([{ payload: [2] }])
})

test('the statement of the way back deletes what waits, and keeps what failed permanently', async ({ postgres: { url, schema } }) => {
  const utils = await utilsOf(url, schema)
  const failed = await utils.addJob('mail', { n: 1 })
  await utils.permanentlyFailJobs([failed.id])
  await utils.addJob('mail', { n: 2 })
  await utils.addJob('mail', { n: 3 }, { runAt: new Date(Date.now() + 3_600_000) })
  const page = readFileSync(new URL('../../docs/migrate/graphile-worker.md', import.meta.url), 'utf8')
  const [, statement = ''] = /`(select graphile_worker\.complete_jobs.+?)`/.exec(page) ?? []
  await utils.withPgClient((client) => client.query(statement.replaceAll('graphile_worker.', `"${schema}".`)))
  expect((await jobsOf(utils, schema)).map(({ id }) => id)).toEqual([failed.id])
})

test('the snippets of docs/migrate/graphile-worker.md are parts of these programs', () => {
  const programs = ['before', 'after', 'back'].map((name) => `graphile-worker/${name}.ts`)
  expect(foreignSnippets('graphile-worker', programs)).toEqual([])
})
