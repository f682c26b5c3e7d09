// `millrace import` from pg-boss and Graphile Worker: what the real ones have put into a real Postgres is there once, and they are as before.
import { EventEmitter } from 'node:events'
import { importFrom } from '@millrace/import'
import { createTestEngine } from '@millrace/testkit'
import { Logger, makeWorkerUtils, run, type WorkerUtils } from 'graphile-worker'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { expect, onTestFinished } from 'vitest'
import { Place } from '../app/millrace.ts'
import { type TestSchema, test } from './test.ts'

const DAY = 86_400_000

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Returns the rows of tables, which differ if a command has written. */
async function contentOf({ url, schema }: TestSchema, ...tables: readonly string[]): Promise<unknown> {
  const contents: unknown[] = []
  for (const table of tables) contents.push(await query(url, `SELECT x.*, x.xmin FROM "${schema}".${table} x ORDER BY x::text`))
  return JSON.stringify(contents)
}

async function startBoss({ url, schema }: TestSchema): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: url, schema, supervise: false, schedule: false, max: 2 })
  boss.on('error', () => {})
  await boss.start()
  onTestFinished(() => boss.stop({ graceful: false }))
  return boss
}

async function shownOf(place: Place): Promise<Record<string, Record<string, unknown>>> {
  await place.serve()
  const { jobs } = (await place.okJson('jobs', 'list', '--limit', '200')) as { jobs: { id: string; name: string }[] }
  return Object.fromEntries(await Promise.all(jobs.map(async ({ id, name }) => [name, await place.okJson('jobs', 'show', id)])))
}

const plain = { state: 'waiting', maxAttempts: 1, priority: 0, attempt: 0, uniqueKey: null, concurrencyKey: null }

test('pg-boss: jobs, policies and schedules; twice is once, and its tables are as they were', async ({ postgres }) => {
  const { url, schema } = postgres
  const from = (...args: readonly string[]) => ['import', '--from', 'pg-boss', url, '--namespace', schema, ...args]
  const boss = await startBoss(postgres)
  const send = async (name: string, policy: 'standard' | 'exclusive' | 'singleton' | 'short', data: object | null, options: object) => {
    await boss.createQueue(name, { policy })
    return boss.send(name, data, { retryLimit: 0, ...options })
  }
  await send(
    'mail',
    'standard',
    { to: 'ada' },
    { retryLimit: 5, retryDelay: 10, retryBackoff: true, retryDelayMax: 600, expireInSeconds: 90, priority: 7 },
  )
  const startAfter = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + DAY)
  await send('later', 'standard', { n: 1 }, { startAfter })
  await send('bare', 'standard', null, { singletonKey: 'shared' })
  await send('only', 'exclusive', { n: 2 }, { singletonKey: 'k' })
  await send('single', 'singleton', { n: 3 }, {})
  await send('short', 'short', { n: 4 }, {})
  await send('busy', 'standard', { n: 5 }, {})
  expect(await boss.fetch('busy')).toHaveLength(1)
  const done = await send('done', 'standard', { n: 6 }, {})
  await boss.fetch('done')
  await boss.complete('done', done as string)
  await boss.schedule('mail', '0 3 * * *', { of: 'night' }, { tz: 'Europe/Berlin', retryLimit: 2, key: 'nightly' })
  await query(url, `UPDATE "${schema}".job SET data = '{"id": 12345678901234567890}' WHERE name = 'short'`)
  const tables = ['job', 'schedule', 'queue'] as const
  const before = await contentOf(postgres, ...tables)

  const place = new Place()
  await place.ok('enqueue', 'bystander')
  const { code, json } = await place.run(...from('--yes', '--json'))
  expect(code).toBe(1)
  expect(json).toMatchObject({
    ...{
      jobs: 5,
      schedules: 1,
      existing: 0,
      unfit: 1,
      changed: false,
      errors: [{ message: expect.stringContaining('12345678901234567890') }],
    },
    plan: {
      rows: expect.arrayContaining([
        { queue: 'busy', state: 'active', count: 1, becomes: expect.stringContaining('include active jobs') },
        { queue: 'done', state: 'completed', count: 1, becomes: 'left: it has ended' },
        { queue: 'mail', state: 'created', count: 1, becomes: 'waiting' },
      ]),
      settings: [{ queue: 'single', command: 'millrace queues set --per-key-limit 1 single' }],
    },
  })
  expect(await place.okJson(...from('--yes', '--only', 'mail,busy', '--include-active'))).toMatchObject({ jobs: 1, existing: 2, unfit: 0 })

  const shown = await shownOf(place)
  expect(shown).toMatchObject({
    mail: {
      ...{ ...plain, queue: 'mail', data: { to: 'ada' }, priority: 7, maxAttempts: 6, timeout: 90_000 },
      backoff: { type: 'exponential', delay: 20_000, jitter: 'equal', maxDelay: 600_000 },
    },
    later: { ...plain, state: 'scheduled', data: { n: 1 }, runAt: startAfter.toISOString() },
    bare: { ...plain, data: null },
    only: { ...plain, uniqueKey: 'k' },
    single: { ...plain, concurrencyKey: 'single' },
    busy: { ...plain, data: { n: 5 } },
    bystander: { queue: 'default' },
  })
  expect(shown).not.toHaveProperty('short')
  expect(await place.okJson('schedules', 'show', 'mail:nightly')).toMatchObject({
    ...{
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
      overlap: 'allow',
      job: 'mail',
      data: { of: 'night' },
      options: { queue: 'mail', maxAttempts: 3 },
    },
  })
  expect((await place.run(...from('--yes', '--json'))).json).toMatchObject({ jobs: 0, schedules: 0, existing: 6 })
  expect(await contentOf(postgres, ...tables)).toBe(before)
})

test('Graphile Worker: jobs, keys, queues and flags; twice is once, and its tables are as they were', async ({ postgres }) => {
  const { url, schema } = postgres
  const from = (...args: readonly string[]) => ['import', '--from', 'graphile-worker', url, '--namespace', schema, ...args]
  const logger = new Logger(() => () => {})
  const utils: WorkerUtils = await makeWorkerUtils({ connectionString: url, schema, logger, maxPoolSize: 2 })
  onTestFinished(() => utils.release())
  await utils.migrate()
  const runAt = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + DAY)
  await utils.addJob('mail', { to: 'ada' }, { priority: 5, maxAttempts: 3, jobKey: 'ada', flags: ['slow', 'eu'] })
  await utils.addJob('later', { n: 1 }, { runAt })
  await utils.addJob('serial', { n: 2 }, { queueName: 'one-by-one' })
  await utils.addJob('fails', { n: 3 }, { maxAttempts: 9, queueName: 'fails' })
  await utils.addJob('ended', { n: 4 }, { maxAttempts: 1 })
  await utils.addJob('busy', { n: 5 }, {})
  const events = new EventEmitter()
  const failed = new Promise<void>((resolve) => {
    const left = new Set(['fails', 'ended'])
    events.on('job:complete', ({ job }) => {
      left.delete(job.task_identifier)
      if (left.size === 0) resolve()
    })
  })
  const fail = () => Promise.reject(new Error('no'))
  const preset = { worker: { connectionString: url, schema, logger, concurrentJobs: 1 } }
  const runner = await run({ preset, events, noHandleSignals: true, taskList: { fails: fail, ended: fail } })
  await failed
  await runner.stop()
  // Its delay may be over by now.
  await query(url, `UPDATE "${schema}"._private_jobs SET run_at = now() + interval '1 day' WHERE attempts = 1 AND max_attempts = 9`)
  await query(
    url,
    `UPDATE "${schema}"._private_jobs j SET locked_at = now(), locked_by = 'w' FROM "${schema}"._private_tasks t
    WHERE t.id = j.task_id AND t.identifier = 'busy'`,
  )
  const tables = ['_private_jobs', '_private_job_queues', '_private_tasks'] as const
  const before = await contentOf(postgres, ...tables)

  const place = new Place()
  await place.ok('enqueue', 'bystander')
  const dry = await place.okJson(...from('--dry-run'))
  expect(dry).toMatchObject({
    plan: {
      rows: expect.arrayContaining([
        { queue: 'busy', state: 'locked', count: 1, becomes: expect.stringContaining('include active jobs') },
        { queue: 'ended', state: 'failed', count: 1, becomes: 'left: it has ended' },
      ]),
      settings: [{ queue: '2 queues', command: 'millrace queues set default --per-key-limit 1' }],
      jobs: 4,
    },
  })
  expect(await place.okJson(...from('--yes', '--only', 'later'))).toMatchObject({ jobs: 1, existing: 0 })
  expect(await place.okJson(...from('--yes'))).toMatchObject({ jobs: 3, existing: 1, unfit: 0, changed: false })

  const none = { ...plain, maxAttempts: 25, queue: 'default', timeout: null }
  const shown = await shownOf(place)
  expect(shown).toMatchObject({
    mail: { ...none, data: { to: 'ada' }, maxAttempts: 3, priority: -5, uniqueKey: 'ada' },
    later: { ...none, state: 'scheduled', data: { n: 1 }, runAt: runAt.toISOString() },
    serial: { ...none, data: { n: 2 }, concurrencyKey: 'one-by-one', backoff: { type: 'exponential', delay: 2_718, factor: Math.E } },
    // It waits for its second attempt.
    fails: { ...none, state: 'scheduled', maxAttempts: 8, concurrencyKey: 'fails', backoff: { delay: 7_389 } },
    bystander: { queue: 'default' },
  })
  expect((shown['mail'] as { tags: string[] }).tags.toSorted()).toEqual(['eu', 'slow'])
  expect(Object.keys(shown).toSorted()).toEqual(['bystander', 'fails', 'later', 'mail', 'serial'])
  expect(await contentOf(postgres, ...tables)).toBe(before)
})

test('pg-boss, killed half way: the same command adds the rest, and none twice', async ({ postgres }) => {
  const { url, schema } = postgres
  const boss = await startBoss(postgres)
  const COUNT = 10_000
  await boss.createQueue('work')
  await boss.insert(
    'work',
    Array.from({ length: COUNT }, (_, n) => ({ data: { n } })),
  )
  const place = new Place()
  await place.serve()
  await place.ok('enqueue', 'bystander')
  const command = ['import', '--from', 'pg-boss', url, '--namespace', schema, '--yes']
  const some = place.start('events', '-f', '--after', '0', '--name', 'work', '--limit', '1', '--json').saidLines(1)
  const killed = place.start(...command)
  await some
  await killed.kill()
  const enqueued = async () => ((await place.okJson('stats'))['totals'] as { enqueued: number }).enqueued - 1
  const halfWay = await enqueued()
  expect(halfWay).toBeGreaterThan(0)
  expect(halfWay).toBeLessThan(COUNT)
  expect(await place.okJson(...command)).toMatchObject({ jobs: COUNT - halfWay, existing: halfWay })
  expect(await enqueued()).toBe(COUNT)
})

test('a program imports twice: the second time it gets what has come meanwhile', async ({ postgres: { url, schema } }) => {
  const boss = await startBoss({ url, schema })
  await boss.createQueue('work')
  await boss.insert('work', [{ data: { n: 1 } }, { data: { n: 2 } }])
  const t = createTestEngine()
  onTestFinished(() => t[Symbol.asyncDispose]())
  const queue = await importFrom('pg-boss', url, { namespace: schema })
  onTestFinished(() => queue.close())
  await boss.send('work', { n: 3 })
  expect(await queue.into(t.engine)).toMatchObject({ jobs: 2, existing: 0, changed: true })
  expect(await queue.into(t.engine)).toMatchObject({ jobs: 1, existing: 2, changed: true })
})

test('a signal ends an import that waits for a lock', async ({ postgres: { url, schema } }) => {
  await (await startBoss({ url, schema })).createQueue('work')
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query(`BEGIN; LOCK TABLE "${schema}".job`)
  const [ending, reason] = [new AbortController(), new Error('enough')]
  const imported = importFrom('pg-boss', url, { namespace: schema, signal: ending.signal }).catch((error: unknown) => error)
  const waiting = `SELECT FROM pg_stat_activity WHERE application_name = 'millrace import' AND wait_event_type = 'Lock' AND query LIKE '%${schema}%'`
  await expect.poll(async () => (await query(url, waiting)).length).toBe(1)
  ending.abort(reason)
  expect(await imported).toBe(reason)
})

test.for([
  ['pg-boss', 'job', /of a pg-boss before 11: start version 11 or later/],
  ['graphile-worker', 'jobs', /of a Graphile Worker before 0\.16: start version 0\.16 or later/],
] as const)('%s: tables of an old version are refused', async ([name, table, message], { postgres: { url, schema } }) => {
  await query(url, `CREATE SCHEMA "${schema}"; CREATE TABLE "${schema}".${table} (name text)`)
  const refused = await new Place().run('import', '--from', name, url, '--namespace', schema, '--yes')
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringMatching(message) })
})

test('a schema without these tables is refused, and a server that is not there', async ({ postgres: { url, schema } }) => {
  const place = new Place()
  for (const name of ['pg-boss', 'graphile-worker']) {
    expect(await place.run('import', '--from', name, url, '--namespace', schema, '--yes')).toMatchObject({ code: 3 })
    const away = await place.run('import', '--from', name, 'postgres://u:secret@127.0.0.1:1/app', '--yes')
    expect(away).toMatchObject({ code: 6, stderr: expect.stringContaining('cannot connect to postgres://127.0.0.1:1/app') })
    expect(away.stderr).not.toContain('secret')
  }
  expect(await place.run('jobs', 'list')).toMatchObject({ code: 3 })
})
