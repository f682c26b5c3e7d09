// `importFrom` as a program calls it, on documents as Agenda writes them.
import { type ImportFromOptions, importFrom, SourceError } from '@millrace/import'
import { createTestEngine } from '@millrace/testkit'
import { ObjectId } from 'mongodb'
import { expect, onTestFinished, test } from 'vitest'
import { startMongo } from '../mongo.ts'

const due = new Date('2020-01-01')
const document = (name: string, fields: object = {}) => ({ _id: new ObjectId(), name, type: 'normal', data: {}, nextRunAt: due, ...fields })
const DOCUMENTS = [
  document('mail', { data: { to: 'ada' } }),
  document('two words'),
  document('busy', { lockedAt: due }),
  document('done', { nextRunAt: null }),
  document('poll', { repeatInterval: '90 minutes' }),
  document('words', { repeatAt: '3:30pm' }),
]

async function planned(options: ImportFromOptions = {}) {
  const documents = [...DOCUMENTS]
  const { url } = await startMongo({ agendaJobs: documents })
  const queue = await importFrom('agenda', url, options)
  onTestFinished(() => queue.close())
  const t = createTestEngine()
  onTestFinished(() => t[Symbol.asyncDispose]())
  const namesOf = async () => (await t.engine.list()).jobs.map(({ name }) => name).toSorted()
  return { url, documents, queue, engine: t.engine, namesOf }
}

test('the plan says what becomes of each entry; `into` creates each once', async () => {
  const read: number[] = []
  const { url, queue, engine, namesOf } = await planned({ onRead: (entries) => read.push(entries) })
  expect(queue.source).toBe(`Agenda at ${url}`)
  expect(read).toEqual([5])
  expect(queue.plan).toEqual({
    rows: [
      { queue: 'busy', state: 'running', count: 1, becomes: 'left: a worker has it: include active jobs to import it' },
      { queue: 'done', state: 'ended', count: 1, becomes: 'left: it has ended' },
      { queue: 'mail', state: 'queued', count: 1, becomes: 'waiting' },
      { queue: 'poll', state: 'repeating', count: 1, becomes: 'a schedule' },
      { queue: 'two words', state: 'queued', count: 1, becomes: 'not imported: see below' },
      { queue: 'words', state: 'repeating', count: 1, becomes: 'not imported: see below' },
    ],
    features: [{ feature: 'repeatInterval as words or a number', count: 1, becomes: 'A schedule with `every`, from the next run on.' }],
    settings: [],
    ...{ jobs: 1, flows: 0, schedules: 1, unfit: 2 },
    errors: [
      { id: String(DOCUMENTS[1]?._id), message: expect.stringContaining('" "') },
      { id: String(DOCUMENTS[5]?._id), message: expect.stringContaining('3:30pm') },
    ],
  })
  const reported: number[] = []
  const errors = [{ code: 'OPTION_TYPE' }, { code: 'UNFIT' }]
  const first = await queue.into(engine, ({ jobs }) => reported.push(jobs))
  expect(first).toMatchObject({ jobs: 1, flows: 0, schedules: 1, existing: 0, unfit: 2, changed: false, errors })
  expect(reported.at(-1)).toBe(1)
  expect(await queue.into(engine)).toMatchObject({ jobs: 0, schedules: 0, existing: 2, unfit: 2, changed: false })
  expect(await namesOf()).toEqual(['mail', 'poll'])
})

test.for<readonly [what: string, options: ImportFromOptions, names: readonly string[]]>([
  ['a new name of one job', { rename: { 'two words': 'two-words' } }, ['mail', 'poll', 'two-words']],
  ['a name that objects have is no new name', { rename: { __proto__: { mail: 'x' } } as never }, ['mail', 'poll']],
  ['one name of all jobs', { name: 'all' }, ['all', 'all', 'all']],
  ['some names', { only: ['mail', 'busy'] }, ['mail']],
  ['some names, with those that a worker has', { only: ['mail', 'busy'], includeActive: true }, ['busy', 'mail']],
])('%s', async ([, options, names]) => {
  const { queue, engine, namesOf } = await planned(options)
  await queue.into(engine)
  expect(await namesOf()).toEqual(names)
})

test('options override those of every job', async () => {
  const { queue, engine } = await planned({ options: { queue: 'old', maxAttempts: 7 }, only: ['mail'] })
  await queue.into(engine)
  expect((await engine.list()).jobs).toMatchObject([{ name: 'mail', queue: 'old', maxAttempts: 7 }])
})

test('a store that changes meanwhile is noticed', async () => {
  const { documents, queue, engine } = await planned()
  documents.push(document('late'))
  expect(await queue.into(engine)).toMatchObject({ jobs: 2, changed: true })
})

test('a signal ends the import with its reason: before it connects, while it reads, and before it creates', async () => {
  const reason = new Error('enough')
  const { url, queue, engine, namesOf } = await planned()
  await expect(importFrom('agenda', url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  const [reading, creating] = [new AbortController(), new AbortController()]
  const onRead = () => reading.abort(reason)
  await expect(importFrom('agenda', url, { signal: reading.signal, onRead })).rejects.toBe(reason)
  const other = await importFrom('agenda', url, { signal: creating.signal })
  creating.abort(reason)
  await expect(other.into(engine)).rejects.toBe(reason)
  expect(await namesOf()).toEqual([])
  await queue.close()
  await expect(queue.into(engine)).rejects.toThrow(SourceError)
})

test('wrong calls say what is wrong, and no password', async () => {
  const { url } = await planned()
  const wrong: readonly (readonly [from: string, url: string, options: object, error: object])[] = [
    ['redis', url, {}, { code: 'OPTION_TYPE', option: 'from', message: expect.stringContaining("'bullmq' or 'pg-boss'") }],
    ['agenda', url, { onyl: [] }, { code: 'OPTION_TYPE', option: 'onyl', message: expect.stringContaining("'only'") }],
    ['bullmq', 'https://me:secret@host', {}, { code: 'OPTION_RANGE', message: expect.stringContaining('such as redis://') }],
    ['agenda', url, { namespace: 'other' }, { code: 'NOT_FOUND', option: 'namespace', message: expect.stringContaining("'other'") }],
  ]
  for (const [from, address, options, error] of wrong) {
    const thrown = await importFrom(from as never, address, options).catch((cause: Error) => cause)
    expect(thrown).toMatchObject(error)
    expect(String(thrown)).not.toContain('secret')
  }
})
