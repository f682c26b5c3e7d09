// `millrace import --from agenda`: documents as Agenda writes them become jobs and schedules, once, and nothing is written there.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { MongoClient, ObjectId } from 'mongodb'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../freePorts.ts'
import { startMongo } from '../mongo.ts'
import { temporaryFolder } from '../temporary.ts'
import { Place } from './millrace.ts'

const LONG = 300_000
const DAY = 86_400_000
const NOW = Date.now()

/** The fields that Agenda 6 gives to each document. */
const document = (name: string, fields: object) => ({
  ...{
    _id: new ObjectId(),
    name,
    type: 'normal',
    priority: 0,
    data: {},
    nextRunAt: new Date(NOW - 1_000),
    lockedAt: null,
    lastModifiedBy: null,
  },
  ...fields,
})

const later = new Date(NOW + DAY)
const DOCUMENTS = [
  document('mail', { data: { to: 'ada' }, priority: 10 }),
  document('later', { data: { n: 1 }, nextRunAt: later }),
  document('busy', { nextRunAt: null, lockedAt: new Date(NOW) }),
  document('done', { nextRunAt: null, lastFinishedAt: new Date(NOW) }),
  document('nightly', { type: 'single', repeatInterval: '0 3 * * *', repeatTimezone: 'Europe/Berlin', nextRunAt: later, data: { of: 1 } }),
  document('poll', { type: 'single', repeatInterval: '90 minutes', nextRunAt: later }),
  document('words', { repeatAt: '3:30pm', nextRunAt: later }),
  document('two words', { data: { n: 2 } }),
]

async function check(url: string): Promise<void> {
  const from = (...args: readonly string[]) => ['import', '--from', 'agenda', url, '--namespace', 'work', ...args]
  const place = new Place()
  await place.ok('enqueue', 'bystander')
  const { code, json } = await place.run(...from('--yes', '--json', '--rename', 'two words=two-words'))
  expect(code).toBe(1)
  expect(json).toMatchObject({
    plan: {
      rows: expect.arrayContaining([
        { queue: 'busy', state: 'running', count: 1, becomes: expect.stringContaining('include active jobs') },
        { queue: 'done', state: 'ended', count: 1, becomes: 'left: it has ended' },
        { queue: 'later', state: 'scheduled', count: 1, becomes: 'scheduled' },
        { queue: 'poll', state: 'repeating', count: 1, becomes: 'a schedule' },
      ]),
    },
    ...{ jobs: 3, schedules: 2, existing: 0, unfit: 1, changed: false, errors: [{ message: expect.stringContaining('3:30pm') }] },
  })
  expect(await place.okJson(...from('--yes', '--only', 'busy,mail', '--include-active'))).toMatchObject({ jobs: 1, existing: 1 })
  await place.serve()
  const { jobs } = (await place.okJson('jobs', 'list')) as { jobs: Record<string, unknown>[] }
  const plain = { queue: 'default', state: 'waiting', maxAttempts: 1, timeout: null }
  expect(Object.fromEntries(jobs.map((job) => [job['name'], job]))).toMatchObject({
    mail: { ...plain, data: { to: 'ada' }, priority: 10 },
    later: { ...plain, state: 'scheduled', runAt: later.toISOString() },
    'two-words': { ...plain, data: { n: 2 } },
    busy: plain,
    bystander: { maxAttempts: 4 },
  })
  expect(jobs).toHaveLength(5)
  const { schedules } = (await place.okJson('schedules', 'list')) as { schedules: unknown[] }
  expect(schedules).toMatchObject([
    { id: 'nightly', cron: '0 3 * * *', timezone: 'Europe/Berlin' },
    { id: 'poll', every: 5_400_000, nextRunAt: later.toISOString() },
  ])
  expect((await place.run('import', '--from', 'agenda', url, '--namespace', 'other', '--yes')).code).toBe(3)
}

test('from documents as Agenda writes them, by the real driver', { timeout: LONG }, async () => {
  const { url, refused } = await startMongo({ work: DOCUMENTS })
  await check(url)
  expect(refused).toEqual([])
})

test('from a real MongoDB', { timeout: LONG }, async ({ skip }) => {
  if (spawnSync('mongod', ['--version']).status !== 0) return skip('no MongoDB: mongod is not on PATH, and no package of npm has it')
  const port = await freePort()
  const server = spawn('mongod', ['--dbpath', temporaryFolder(), '--port', `${port}`, '--bind_ip', '127.0.0.1'], { stdio: 'ignore' })
  onTestFinished(async () => {
    server.kill('SIGKILL')
    await once(server, 'exit')
  })
  const url = `mongodb://127.0.0.1:${port}/app`
  const client = await new MongoClient(url).connect()
  await client.db().collection('work').insertMany(DOCUMENTS)
  await client.close()
  await check(url)
})

test('a server that is not there', { timeout: LONG }, async () => {
  const away = await new Place().run(
    'import',
    '--from',
    'agenda',
    'mongodb://user:secret@127.0.0.1:1/app?serverSelectionTimeoutMS=200',
    '--yes',
  )
  expect(away).toMatchObject({ code: 6, stderr: expect.stringContaining('cannot connect to mongodb://127.0.0.1:1/app') })
  expect(away.stderr).not.toContain('secret')
})
