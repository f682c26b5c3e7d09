/** `list({ search })` on a reader's thread, and where there is none, on the writer's. */
import { attach, defineJob, LIMITS, openEngine } from '@millrace/engine'
import { connect, listen } from '@millrace/remote'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFile, temporaryFolder } from '../temporary.ts'

const OTHERS = LIMITS.walkRows + 500

test.each([
  ['a reader', () => ({ file: temporaryFile() }), 1],
  ['the writer', () => ({ file: temporaryFile(), readers: 0 }), 2],
  ['a database in memory', () => ({ file: ':memory:' }), 2],
] as const)('%s looks through all jobs, page by page', async (_what, options, pagesMin) => {
  const engine = await openEngine({ ...options(), durability: 'normal' })
  onTestFinished(() => engine.stop())
  const oldest = await engine.enqueue('mail', { to: 'ada@example.org' })
  await engine.enqueueMany(Array.from({ length: OTHERS }, (_, n) => ({ job: 'other', data: n })))
  const newest = await engine.enqueue('mail', { to: 'x' }, { tags: ['Ada'] })
  const found: string[] = []
  let pages = 0
  let after: string | undefined
  do {
    const page = await engine.list({ search: 'ada', limit: 10, ...(after !== undefined && { after }) })
    expect(page.partial).toBe(page.next === undefined ? undefined : true)
    found.push(...page.jobs.map(({ id }) => id))
    after = page.next
    pages++
  } while (after !== undefined)
  expect(found).toEqual([newest.id, oldest.id])
  expect(pages).toBeGreaterThanOrEqual(pagesMin)
  // A page that is full says nothing of a bound.
  const full = await engine.list({ search: 'ada', limit: 1 })
  expect([full.jobs.length, full.next === undefined, full.partial]).toEqual([1, false, undefined])
  expect((await engine.list({ search: 'ada', name: 'other' })).jobs).toEqual([])
})

test.each([
  ['a reader', () => ({ file: temporaryFile() })],
  ['the writer', () => ({ file: temporaryFile(), readers: 0 })],
] as const)('%s lists the oldest jobs first, with and without a filter', async (_what, options) => {
  const engine = await openEngine({ ...options(), durability: 'normal' })
  onTestFinished(() => engine.stop())
  await engine.enqueueMany(['mail', 'other', 'mail'].map((job, data) => ({ job, data })))
  const asked = [{}, { name: 'mail' }, { name: 'mail', state: ['waiting', 'scheduled'] }] as const
  const found = await Promise.all(asked.map((filter) => engine.list({ ...filter, order: 'oldest' })))
  expect(found.map(({ jobs }) => jobs.map(({ data }) => data))).toEqual([
    [0, 1, 2],
    [0, 2],
    [0, 2],
  ])
})

test('of running jobs, and from another process', async () => {
  const engine = await openEngine({ file: temporaryFile() })
  onTestFinished(() => engine.stop())
  const { promise, resolve } = Promise.withResolvers<void>()
  const started = new Promise<unknown>((done) => engine.once('started', done))
  engine.work([defineJob({ name: 'mail' }).handler(() => promise)])
  const handle = await engine.enqueue('mail', { to: 'ada' })
  await started
  expect((await engine.list({ search: 'ada', state: 'active' })).jobs).toMatchObject([{ id: handle.id }])
  const server = await listen(engine, `unix:${temporaryFolder()}/run/q.sock`)
  onTestFinished(() => server.close())
  const far = await connect(server.url)
  onTestFinished(() => far.stop())
  expect((await far.list({ search: 'ADA' })).jobs).toMatchObject([{ id: handle.id }])
  expect((await far.list({ search: 'nobody' })).jobs).toEqual([])
  // In one page, which is more than the writer looks through: a reader has answered.
  await far.enqueueMany(Array.from({ length: OTHERS }, (_, n) => ({ job: 'other', data: n })))
  const page = await far.list({ search: 'ada', limit: 2 })
  expect([page.jobs.map(({ id }) => id), page.next]).toEqual([[handle.id], undefined])
  expect((await far.list({ state: 'active' })).jobs).toMatchObject([{ id: handle.id }])
  resolve()
  await handle.result()
})

test.each([
  ['a reader', () => ({ file: temporaryFile() }), true],
  ['the writer', () => ({ file: temporaryFile(), readers: 0 }), false],
  ['a database in memory', () => ({ file: ':memory:' }), false],
] as const)('by attach, %s looks as the engine’s own searches do', async (_what, options, inOnePage) => {
  const engine = await openEngine({ ...options(), durability: 'normal' })
  onTestFinished(() => engine.stop())
  const other = attach(engine.port())
  onTestFinished(() => other.stop())
  const handle = await other.enqueue('mail', { to: 'ada' })
  expect((await other.list({ search: 'ada' })).jobs).toMatchObject([{ id: handle.id }])
  await other.enqueueMany(Array.from({ length: OTHERS }, (_, n) => ({ job: 'other', data: n })))
  // What the writer looks through at a time ends before.
  const page = await other.list({ search: 'ada', limit: 2 })
  expect([page.jobs.map(({ id }) => id), page.next === undefined]).toEqual(inOnePage ? [[handle.id], true] : [[], false])
})

test('a thread that lists by attach ends by itself, and so does its process: nobody stops anything', async () => {
  const program = startProgram(new URL('./programs/attachedLists.ts', import.meta.url), [temporaryFile()])
  expect(await program.ended).toEqual({ code: 0, signal: null, stderr: '' })
  expect(program.lines).toEqual(['thread: 1 job', 'thread ended: 0'])
})
