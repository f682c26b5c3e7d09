// apps/examples/migrate/pg-boss, and what docs/migrate/pg-boss.md says of pg-boss: the real one runs, on a real Postgres.
import { openEngine } from '@millrace/engine'
import { PgBoss } from 'pg-boss'
import { expect, onTestFinished } from 'vitest'
import { foreignSnippets, runUntil, startMoved } from '../examples/migrate.ts'
import { durableServer, type TestSchema, test } from './test.ts'

async function startBoss(url: string, schema: string): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: url, schema, supervise: false, schedule: false, max: 2 })
  boss.on('error', () => {})
  await boss.start()
  onTestFinished(() => boss.stop({ graceful: false }))
  return boss
}

test('the mail service does the same before and after, and the way back brings each job once', async ({ postgres: { schema } }) => {
  const url = await durableServer()
  const env = { DATABASE_URL: url, SCHEMA: `${schema}_new`, BOSS_SCHEMA: schema }
  const before = await runUntil(startMoved('pg-boss/before.ts', { ...env, SCHEMA: schema }), /^printing$/)
  const after = await runUntil(startMoved('pg-boss/after.ts', env), /^printing$/)
  expect(before.worker.map((line) => line.slice('worker: sent to '.length))).toEqual([
    ...['ada', 'soon', 'late', 'first', 'second', 'third', 'fourth'],
  ])
  expect(before.main).toEqual([
    'output: {"sent":"ada"}',
    'given up: nobody',
    'asked twice, one job: true',
    'throttled: true',
    'letter: Dear Reader',
    expect.stringMatching(/^next report: .+T0[12]:00:00\.000Z$/),
    'counted to 6 in one call',
    // The second one stays where it is.
    'printing',
    'printed',
  ])
  const { stderr, ...printed } = after
  expect({ ...printed, stderr: '' }).toEqual(before)
  expect(stderr).toContain("job 'mail' failed at attempt 1 of 3 and is tried again: Error: ada does not answer")

  // Left: one index, one report, one print.
  const runAt = Date.now() + 3_600_000
  const engine = await openEngine({ postgres: url, schema: env.SCHEMA })
  await engine.enqueue('mail', { to: 'later' }, { queue: 'mail', runAt, priority: 3, maxAttempts: 5 })
  await engine.stop()
  const boss = await startBoss(url, schema)
  const waiting = async () => (await boss.findJobs('mail', { queued: true })).filter(({ state }) => state === 'created')
  expect(await waiting()).toEqual([])
  for (const lines of [['index', 'mail', 'print', 'report'].map((queue) => `${queue} is back in pg-boss`), []]) {
    const program = startMoved('pg-boss/back.ts', env)
    expect(await program.ended).toEqual({ code: 0, signal: null, stderr: '' })
    expect(program.lines.toSorted()).toEqual(lines)
  }
  expect(await waiting()).toMatchObject([{ data: { to: 'later' }, priority: 3, retryLimit: 4, startAfter: new Date(runAt) }])
})

test('the traps are true of pg-boss', async ({ postgres }: { postgres: TestSchema }) => {
  const boss = await startBoss(postgres.url, postgres.schema)
  await expect(boss.send('nowhere', {})).rejects.toThrow('Queue nowhere does not exist')
  await boss.createQueue('mail')
  expect(await boss.getQueue('mail')).toMatchObject({
    ...{
      retryLimit: 2,
      retryDelay: 0,
      retryBackoff: false,
      expireInSeconds: 900,
      retentionSeconds: 14 * 86_400,
      deleteAfterSeconds: 7 * 86_400,
    },
  })
  // A key alone is no limit on a queue of the policy `standard`.
  const ids = [await boss.send('mail', {}, { singletonKey: 'a' }), await boss.send('mail', {}, { singletonKey: 'a' })]
  expect(new Set(ids.filter((id) => id !== null)).size).toBe(2)
  // An unknown option passes without a word.
  expect(await boss.send('mail', {}, { attempts: 3 } as object)).not.toBeNull()
  // The first call of a slot is a job at once, the second one waits for the next slot, and the data of all others is lost.
  await boss.createQueue('search')
  const debounced: boolean[] = []
  for (const n of [1, 2, 3]) debounced.push((await boss.sendDebounced('search', { n }, null, 3_600)) !== null)
  expect(debounced).toEqual([true, true, false])
  // The handler gets an array, and three attempts follow one another.
  await boss.createQueue('fails')
  const seen: unknown[] = []
  const third = Promise.withResolvers<void>()
  await boss.work('fails', { pollingIntervalSeconds: 0.5 }, async (jobs) => {
    seen.push([Array.isArray(jobs), jobs.length, jobs[0]?.retryCount])
    if (seen.length === 3) third.resolve()
    throw new Error('always')
  })
  const id = (await boss.send('fails', {})) as string
  await third.promise
  await expect.poll(async () => (await boss.findJobs('fails', { id }))[0]?.state).toBe('failed')
  expect(seen).toEqual([0, 1, 2].map((retry) => [true, 1, retry]))
  // No retry of a job that waits, no zone but UTC.
  await boss.schedule('mail', '0 3 * * *')
  expect(await boss.getSchedule('mail')).toMatchObject({ timezone: 'UTC' })
  expect(await boss.retry('mail', ids[0] as string)).toMatchObject({ affected: 0 })
})

test('the snippets of docs/migrate/pg-boss.md are parts of these programs', () => {
  expect(
    foreignSnippets(
      'pg-boss',
      ['before', 'after', 'back'].map((name) => `pg-boss/${name}.ts`),
    ),
  ).toEqual([])
})
