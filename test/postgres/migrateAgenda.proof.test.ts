// apps/examples/migrate/agenda, and what docs/migrate/agenda.md says of Agenda: the real one runs, on a real Postgres.
import { PostgresBackend } from '@agendajs/postgres-backend'
import { openEngine } from '@millrace/engine'
import { Agenda, type AgendaOptions } from 'agenda'
import { expect, onTestFinished } from 'vitest'
import { foreignSnippets, freshFile, runUntil, startMoved } from '../examples/migrate.ts'
import { test } from './test.ts'

async function openAgenda(connectionString: string, tableName: string, options: Partial<AgendaOptions> = {}): Promise<Agenda> {
  const backend = new PostgresBackend({ connectionString, tableName, channelName: tableName })
  const agenda = new Agenda({ ...options, backend })
  await agenda.ready
  onTestFinished(async () => {
    await agenda.stop(false)
    await backend.disconnect()
  })
  return agenda
}

test('the reminder service does the same before and after, and the way back brings each job', async ({ postgres: { url, schema } }) => {
  const env = { DATABASE_URL: url, TABLE: schema }
  const file = freshFile()
  const before = await runUntil(startMoved('agenda/before.ts', env), /^printing$/)
  // Agenda asks the database about each due job before it starts it; meanwhile the next one may overtake. Their names are in order.
  before.worker.splice(7, 3, ...before.worker.slice(7, 10).toSorted())
  const after = await runUntil(startMoved('agenda/after.ts', {}, file), /^printing$/)
  expect(before.worker.map((line) => line.slice('worker: '.length))).toEqual([
    'attempt 1 failed, ada is busy',
    'reminded ada',
    'attempt 1 failed, nobody is busy',
    'attempt 2 failed, nobody is busy',
    'given up after 3, nobody is busy',
    ...['soon', 'late', 'first', 'second', 'third', 'grace'].map((name) => `reminded ${name}`),
  ])
  expect(before.main).toEqual([
    ...['indexed at edit 3', 'cleaned 1', 'cleaned 2', 'counted to 50 %'],
    // The second one stays where it is.
    'printing',
    'printed',
  ])
  const { stderr, ...printed } = after
  expect({ ...printed, stderr: '' }).toEqual(before)
  expect(stderr).toContain("job 'remind' failed at attempt 1 of 3 and is tried again: Error: ada is busy")

  // Left: one print.
  const runAt = new Date(Date.now() + 3_600_000)
  const engine = await openEngine({ file })
  await engine.enqueue('remind', { to: 'later' }, { runAt, priority: 3 })
  await engine.stop()
  const agenda = await openAgenda(url, schema)
  await agenda.cancelAll()
  for (const lines of [['print is back in Agenda', 'remind is back in Agenda'], []]) {
    const program = startMoved('agenda/back.ts', env, file)
    expect(await program.ended).toEqual({ code: 0, signal: null, stderr: '' })
    expect(program.lines).toEqual(lines)
  }
  const { jobs } = await agenda.queryJobs({})
  expect(jobs.toSorted((a, b) => a.name.localeCompare(b.name))).toMatchObject([
    { name: 'print', priority: 0 },
    { name: 'remind', priority: 3, data: { to: 'later' }, nextRunAt: runAt },
  ])
})

test('the traps are true of Agenda', async ({ postgres: { url, schema } }) => {
  const agenda = await openAgenda(url, schema, { processEvery: 100 })
  expect(agenda.attrs).toMatchObject({ defaultConcurrency: 5, maxConcurrency: 20, defaultLockLifetime: 600_000 })
  const seen: string[] = []
  const failed = (name: string) => new Promise<void>((resolve) => void agenda.once(`fail:${name}`, () => resolve()))
  agenda.define('fails', () => Promise.reject(new Error('always')))
  agenda.define('order', async ({ attrs }) => void seen.push(String(attrs.data)), { concurrency: 1 })
  // A failed job is not tried again without `backoff`, and nothing starts before `start`.
  const first = failed('fails')
  const job = await agenda.now('fails', {})
  // The time counts before the priority.
  const at = (ms: number) => new Date(1_700_000_000_000 + ms)
  await agenda.create('order', 'later, high').schedule(at(1)).priority('high').save()
  await agenda.create('order', 'earlier, low').schedule(at(0)).priority('low').save()
  const both = new Promise<void>((resolve) => void agenda.on('success:order', () => seen.length === 2 && resolve()))
  await agenda.start()
  await Promise.all([first, both])
  expect(seen).toEqual(['earlier, low', 'later, high'])
  const shown = async (id: unknown) => (await agenda.queryJobs({})).jobs.find(({ _id }) => String(_id) === String(id))
  await expect.poll(() => shown(job.attrs._id)).toMatchObject({ state: 'failed', failCount: 1, nextRunAt: null })
  // `cancel` deletes, and `every` again is the same job.
  const every = [await agenda.every('1 hour', 'hourly'), await agenda.every('2 hours', 'hourly')]
  expect(new Set(every.map(({ attrs }) => String(attrs._id))).size).toBe(1)
  expect(await agenda.cancel({ name: 'hourly' })).toBe(1)
  expect(await shown(every[0]?.attrs._id)).toBeUndefined()
})

test('the snippets of docs/migrate/agenda.md are parts of these programs', () => {
  const programs = ['before', 'after', 'back'].map((name) => `agenda/${name}.ts`)
  expect(foreignSnippets('agenda', programs)).toEqual([])
})
