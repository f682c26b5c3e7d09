// Every command is either among those that ask, or among those that may act at once.
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { ASKS, leavesOf } from './asks.ts'
import type { Context } from './context.ts'
import { createProgram } from './program.ts'

const AT_ONCE = `
  serve, open, enqueue, import, demo start, demo producer, demo worker
  jobs list, jobs show, jobs explain, jobs steps, jobs send, jobs again, jobs logs, keys show, keys release, dlq list, flows list, flows show, events, export
  queues list, queues show, queues keys, queues set, queues pause, queues resume, queues resume-all, queues drain
  schedules list, schedules show, schedules set, schedules add, schedules update, schedules pause, schedules resume, schedules trigger
  schedules next, worker start, worker stop, workers list, workers stop, workers drain, status, stats, top
  config show, config set, config get, config list, token create, token list, webhooks list, webhooks add, webhooks enable
  audit, doctor, backup, migrate, openapi, mcp, completion`
  .split(/[,\n]/)
  .map((path) => path.trim())
  .filter((path) => path !== '')

/** What each asking command is given, so that it would act. */
const GIVEN: Readonly<Record<keyof typeof ASKS, readonly string[]>> = {
  'jobs cancel': ['--queue', 'mail'],
  'jobs delete': ['--queue', 'mail'],
  'jobs retry': ['--all'],
  'jobs run': ['--all'],
  'jobs update': ['--all', '--priority', '1'],
  'dlq retry': [],
  'dlq purge': ['--queue', 'mail'],
  'queues purge': ['mail'],
  'queues delete': ['mail'],
  'queues pause-all': [],
  'schedules delete': ['nightly'],
  'token revoke': ['ci'],
  'webhooks disable': ['billing'],
  'webhooks delete': ['billing'],
}

const NOWHERE = { kind: 'file', file: '/nowhere/jobs.db' }

/** An engine that notes the changes that it is asked for: calls that read, and dry runs, are none. */
function engineOf(changes: string[], path: readonly string[] = []): object {
  return new Proxy(() => {}, {
    get: (_, name) => (name === 'then' ? undefined : engineOf(changes, [...path, String(name)])),
    apply: (_, _this, args) => {
      const isDry = args.some((each) => each?.dryRun === true)
      if (!isDry && !['get', 'list'].includes(path.at(-1) ?? '')) changes.push(path.join('.'))
      return Promise.resolve({ changed: 7, count: 7, skipped: {}, active: 0 })
    },
  })
}

/** An engine and a folder in which nothing is: no queue, no schedule, no token, no endpoint. */
const EMPTY = { queues: { get: async () => undefined }, schedules: { get: async () => undefined }, list: async () => ({ jobs: [] }) }

function programOf(changes: string[] = [], engine: object = engineOf(changes)) {
  const stdin = new PassThrough()
  const out = {
    stderr: new PassThrough(),
    stdout: new PassThrough(),
    json: false,
    paint: String,
    answer: async () => {},
    item: async () => {},
  }
  const context = {
    stdin,
    out,
    env: {},
    host: {},
    signal: new AbortController().signal,
    connect: async () => engine,
    target: () => NOWHERE,
  }
  const program = createProgram(context as unknown as Context)
  program.exitOverride()
  return program
}

test('each command asks, or is known to act at once', () => {
  const paths = leavesOf(programOf()).map(([path]) => path)
  expect(paths.toSorted()).toEqual([...Object.keys(ASKS), ...AT_ONCE].toSorted())
})

test('those that ask, and no others but an import from elsewhere, take --yes', () => {
  const takers = leavesOf(programOf()).flatMap(([path, { options }]) => (options.some(({ long }) => long === '--yes') ? [path] : []))
  expect(takers.toSorted()).toEqual([...Object.keys(ASKS), 'import'].toSorted())
})

// Tokens are in the file of a daemon: test/app/tokens.test.ts revokes one.
const ENGINES = Object.entries(GIVEN).filter(([path]) => path !== 'token revoke' && !path.startsWith('webhooks'))

test.each(ENGINES)('%s changes nothing until it is confirmed', async (path, given) => {
  const changes: string[] = []
  const args = [...path.split(' '), ...given]
  await expect(programOf(changes).parseAsync(args, { from: 'user' })).rejects.toThrow(/Confirm with --yes$/)
  expect(changes).toEqual([])
  await programOf(changes).parseAsync([...args, '--yes'], { from: 'user' })
  expect(changes).toHaveLength(1)
})

test.each([
  ['jobs', 'cancel', '01990a5e-7f00-7000-8000-000000400001'],
  ['jobs', 'retry', '--queue', 'mail'],
  ['jobs', 'update', '--tag', 'a', '--priority', '1'],
  ['dlq', 'retry', '--name', 'mail'],
])('%s %s of what is named acts at once', async (...args) => {
  const changes: string[] = []
  await programOf(changes).parseAsync(args, { from: 'user' })
  expect(changes).toHaveLength(1)
})

// All others select jobs by flags, and say how many.
const NAMED = Object.entries(GIVEN).filter(([, given]) => given.length === 1 && !given[0]?.startsWith('-'))

test.each(NAMED)('%s of a thing that is not there asks nobody', async (path, given) => {
  const outcome = programOf([], EMPTY).parseAsync([...path.split(' '), ...given], { from: 'user' })
  await expect(outcome).rejects.toThrow(expect.objectContaining({ code: expect.stringMatching(/NOT_FOUND$/) }))
})
