// Bad input: each a typed error that names the option, the limit and what to do; nothing is lost or half written, and the engine serves on.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  AlreadyOpenError,
  attach,
  defineJob,
  type Engine,
  EngineStoppedError,
  type Handler,
  JobFinishedError,
  JobNotFoundError,
  NotADatabaseError,
  NotWritableError,
  OptionRangeError,
  OptionTypeError,
  openEngine,
  SchemaTooNewError,
  SchemaTooOldError,
  ValidationError,
} from '@millrace/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeForeign, makeTooNew, tableRows, tamper } from '../../packages/sqlite/src/testing/inspect.ts'
import { temporaryFile, temporaryFolder } from '../temporary.ts'

type ErrorClass = abstract new (...args: never[]) => Error

/** How it fails: the class, the option that it names, the limit that it names, and what its message says. */
interface Failure {
  readonly type: ErrorClass
  readonly option?: string
  readonly limit?: number | string
  readonly says: RegExp
}

const wrongType = (option: string, says: RegExp): Failure => ({ type: OptionTypeError, option, says })
const outOfRange = (option: string, limit: number | string, says: RegExp): Failure => ({ type: OptionRangeError, option, limit, says })

async function expectFailure(call: () => unknown, { type, option, limit, says }: Failure): Promise<void> {
  const error = await (async () => call())().then(
    (value) => `it answered ${JSON.stringify(value)}`,
    (thrown) => thrown,
  )
  expect(error).toBeInstanceOf(type)
  expect(error.message).toMatch(says)
  expect(error.code).toMatch(/^[A-Z_]+$/)
  expect(typeof error.retryable).toBe('boolean')
  if (option !== undefined) expect(error.option).toBe(option)
  if (limit !== undefined) expect(error.limit).toBe(limit)
}

/** As JavaScript callers may. */
// biome-ignore lint/suspicious/noExplicitAny: what types would refuse is what is tested
const wrong = (value: unknown): any => value

const MIB = 2 ** 20
const a = defineJob({ name: 'a' })
const checked = defineJob({
  name: 'checked',
  schema: {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => (typeof value === 'number' ? { value } : { issues: [{ message: 'a number is wanted', path: ['n'] }] }),
    },
  },
})
const circle: { self?: unknown } = {}
circle.self = circle

const OPENINGS: readonly (readonly [what: string, options: () => unknown, failure: Failure])[] = [
  ['no options', () => undefined, wrongType('options', /openEngine/)],
  ['an unknown option', () => ({ file: temporaryFile(), fiel: 'x' }), wrongType('fiel', /did you mean 'file'\?/)],
  ['no file', () => ({}), wrongType('file', /path of the database file, or ':memory:'/)],
  ['a file that is a number', () => ({ file: 7 }), wrongType('file', /got 7/)],
  ['a file with a control character', () => ({ file: 'a\0b' }), wrongType('file', /U\+0000/)],
  ['an unknown durability', () => ({ file: temporaryFile(), durability: 'ful' }), wrongType('durability', /did you mean 'full'\?/)],
  ['an unknown recovery', () => ({ file: temporaryFile(), recovery: 1 }), wrongType('recovery', /'immediate' or 'backoff'/)],
  ['a negative duration', () => ({ file: temporaryFile(), waitForOwner: -1 }), outOfRange('waitForOwner', 0, /at least 0/)],
  [
    'an absurd duration',
    () => ({ file: temporaryFile(), waitForOwner: Number.POSITIVE_INFINITY }),
    outOfRange('waitForOwner', 3_153_600_000_000, /at most/),
  ],
  ['no duration', () => ({ file: temporaryFile(), waitForOwner: 'soon' }), wrongType('waitForOwner', /'5m' or \{ minutes: 5 \}/)],
  ['too many readers', () => ({ file: temporaryFile(), readers: 9 }), outOfRange('readers', 8, /8/)],
  ['no cache', () => ({ file: temporaryFile(), cache: 0 }), outOfRange('cache', 1, /1/)],
  ['data without bounds', () => ({ file: temporaryFile(), maxDataBytes: 2 ** 40 }), outOfRange('maxDataBytes', 16 * MIB, /16777216/)],
  ['half a logger', () => ({ file: temporaryFile(), logger: { info() {} } }), wrongType('logger', /debug/)],
  ['an unknown retention', () => ({ file: temporaryFile(), retention: { done: 0 } }), wrongType('done', /completed/)],
  ['what is not true or false', () => ({ file: temporaryFile(), share: 1 }), wrongType('share', /true or false/)],
  ['a codec that is none', () => ({ file: temporaryFile(), codec: 'aes' }), wrongType('codec', /encode, decode/)],
  ['half a codec', () => ({ file: temporaryFile(), codec: { encode: () => {} } }), wrongType('codec.decode', /function/)],
  ['a redact that is none', () => ({ file: temporaryFile(), redact: /secret/ }), wrongType('redact', /function/)],
  [
    'a fileAccess that is none',
    () => ({ file: temporaryFile(), fileAccess: 'all' }),
    wrongType('fileAccess', /'owner' or 'group', got "all"/),
  ],
  ['a secureDelete that is none', () => ({ file: temporaryFile(), secureDelete: 'yes' }), wrongType('secureDelete', /true or false/)],
]

describe('openEngine', () => {
  test.each([...OPENINGS])('%s', async (_what, options, failure) => {
    await expectFailure(() => openEngine(wrong(options())), failure)
  })

  test.each([
    [
      'a file that is no database',
      (file: string) => writeFileSync(file, 'Dear diary, '.repeat(1_000)),
      /not an SQLite database.*Give the path of a new file/,
    ],
    ['a short file that is none', (file: string) => writeFileSync(file, 'xx'), /not an SQLite database/],
    ["another program's database", makeForeign, /another program.*Give Millrace a file of its own/],
  ])('%s is refused, and left as it is', async (_what, make, says) => {
    const file = temporaryFile()
    make(file)
    const before = readFileSync(file)
    await expectFailure(() => openEngine({ file }), { type: NotADatabaseError, says })
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test('a file of a newer version is refused, and left as it is', async () => {
    const file = temporaryFile()
    const engine = await openEngine({ file })
    await engine.enqueue(a)
    await engine.stop()
    makeTooNew(file)
    const before = readFileSync(file)
    await expectFailure(() => openEngine({ file }), {
      type: SchemaTooNewError,
      says: /newer version.*Update Millrace, or restore a backup/,
    })
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test('a file from before 0.1.0 is refused, and left as it is', async () => {
    const file = temporaryFile()
    await (await openEngine({ file, autoMigrate: false })).stop()
    tamper(file, 'UPDATE meta SET min_reader = 23, schema_version = 23')
    const before = readFileSync(file)
    await expectFailure(() => openEngine({ file }), {
      type: SchemaTooOldError,
      says: /has schema 23, of a version before 0\.1\.0, which no release can open: give another file/,
    })
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test.each([
    ['a folder that is not there', () => join(temporaryFolder(), 'none', 'jobs.db'), /does not exist\. Create it/],
    [
      'a path below a file',
      () => {
        const file = temporaryFile()
        writeFileSync(file, '')
        return join(file, 'jobs.db')
      },
      /is no folder|does not exist/,
    ],
    [
      'a folder in place of the file',
      () => {
        const file = temporaryFile()
        mkdirSync(file)
        return file
      },
      /is a folder\. Name a file in it/,
    ],
  ])('%s', async (_what, path, says) => {
    await expectFailure(() => openEngine({ file: path() }), { type: NotWritableError, says })
  })

  test('a folder that nobody may write to', async ({ skip }) => {
    if (process.platform !== 'linux') skip('needs /proc, which not even root may write to')
    await expectFailure(() => openEngine({ file: '/proc/jobs.db' }), { type: NotWritableError, says: /Give this user write access/ })
  })

  test('a damaged database is refused with what to do', async () => {
    const file = temporaryFile()
    const engine = await openEngine({ file })
    await engine.enqueue(a)
    await engine.stop()
    const whole = readFileSync(file)
    // The schema; all that comes after it; the header of each page.
    for (const [from, to] of [
      [100, 4_096],
      [4_096, whole.length],
    ] as const) {
      const damaged = Buffer.from(whole)
      damaged.fill(0xff, from, to)
      writeFileSync(file, damaged)
      await expectFailure(() => openEngine({ file }), { type: NotADatabaseError, says: /is damaged.*Restore a backup/ })
    }
    // It lets go of what it took.
    rmSync(file)
    await (await openEngine({ file })).stop()
  })

  test('attach takes a port, that of an engine', async () => {
    await expectFailure(() => attach({}), wrongType('port', /engine\.port\(\)/))
    const { port1 } = new MessageChannel()
    await expectFailure(() => attach(port1), wrongType('port', /engine\.port\(\)/))
    port1.close()
  })
})

describe('an engine that serves', () => {
  let engine: Engine
  let bystander: string
  let done: string

  beforeAll(async () => {
    engine = await openEngine({ file: ':memory:', durability: 'normal' })
    bystander = (await engine.enqueue('bystander', { n: 1 }, { delay: '1h' })).id
    const handle = await engine.enqueue('done')
    engine.work([defineJob({ name: 'done' }).handler(() => 1)])
    await handle.result()
    done = handle.id
  })

  afterAll(() => engine.stop())

  const enqueue = (options: unknown) => () => engine.enqueue('a', null, wrong(options))
  const CALLS: readonly (readonly [what: string, call: () => unknown, failure: Failure])[] = [
    ['an unknown option', enqueue({ priorty: 1 }), wrongType('priorty', /did you mean 'priority'\?/)],
    ['options that are none', enqueue('5m'), wrongType('options', /object/)],
    ['a priority that is a text', enqueue({ priority: 'high' }), wrongType('priority', /whole number/)],
    ['a priority beyond all bounds', enqueue({ priority: 1e9 }), outOfRange('priority', 1_000_000, /1000000/)],
    ['a weight of nothing', enqueue({ weight: 0 }), outOfRange('weight', 1, /1/)],
    ['no attempts', enqueue({ maxAttempts: 0 }), outOfRange('maxAttempts', 1, /1/)],
    ['a negative delay', enqueue({ delay: -5 }), outOfRange('delay', 0, /at least 0/)],
    ['a delay of a thousand years', enqueue({ delay: { days: 365_000 } }), outOfRange('delay', 3_153_600_000_000, /at most/)],
    ['a delay that is no number', enqueue({ delay: Number.NaN }), wrongType('delay', /duration/)],
    ['a delay in fortnights', enqueue({ delay: '2 fortnights' }), wrongType('delay', /'5m'/)],
    ['a delay and a time', enqueue({ delay: 1, runAt: new Date(0) }), wrongType('runAt', /exclude each other/)],
    ['a time that is none', enqueue({ runAt: new Date('never') }), wrongType('runAt', /invalid Date/)],
    ['a backoff without a type', enqueue({ backoff: { delay: 1 } }), wrongType('backoff.type', /'exponential'/)],
    ['a key without a character', enqueue({ idempotencyKey: '' }), outOfRange('idempotencyKey', 512, /512/)],
    ['a key that goes on and on', enqueue({ unique: { key: 'k'.repeat(513) } }), outOfRange('unique.key', 512, /512/)],
    ['too many tags', enqueue({ tags: Array.from({ length: 33 }, (_, n) => `t${n}`) }), outOfRange('tags', 32, /32/)],
    ['a library in meta', enqueue({ meta: 'm'.repeat(16_385) }), outOfRange('meta', 16_384, /put the rest into data/)],
    ['a name with a control character', () => engine.enqueue('a\u0007b'), wrongType('name', /U\+0007\) at position 1/)],
    ['a name with a space', () => engine.enqueue('a b'), wrongType('name', /allowed are/)],
    ['an empty name', () => engine.enqueue(''), outOfRange('name', 128, /1 to 128/)],
    ['a queue with a line break', enqueue({ queue: 'q\n' }), wrongType('queue', /U\+000A/)],
    ['a job that is no definition', () => engine.enqueue(wrong({})), wrongType('job', /defineJob/)],
    [
      'a handler in place of a job',
      () => engine.enqueue(wrong(a.handler(() => 1))),
      wrongType('job', /this is a handler, give the definition/),
    ],
    [
      'all in one object',
      () => engine.enqueue(wrong({ job: 'a', data: 1 })),
      wrongType('job', /one after the other: enqueue\('mail', data, options\)/),
    ],
    [
      'an item by its name',
      () => engine.enqueueMany(wrong([{ name: 'a' }])),
      wrongType('jobs[0].job', /jobs\[0\] has no job.*"name": did you mean 'job'\?/),
    ],
    [
      'an option of another queue',
      enqueue({ attempts: 3 }),
      wrongType('attempts', /did you mean 'maxAttempts'\? It counts the first attempt too/),
    ],
    [
      'data beyond 1 MiB',
      () => engine.enqueue('a', 'x'.repeat(MIB)),
      outOfRange('data', MIB, /keep large content elsewhere.*maxDataBytes/),
    ],
    ['bytes beyond 1 MiB', () => engine.enqueue('a', new Uint8Array(MIB + 1)), outOfRange('data', MIB, /maxDataBytes/)],
    ['a function as data', () => engine.enqueue('a', () => 1), wrongType('data', /function.*Give plain values/)],
    ['a BigInt as data', () => engine.enqueue('a', { n: 1n }), wrongType('data', /BigInt/)],
    ['data that holds itself', () => engine.enqueue('a', circle), wrongType('data', /circular/)],
    ['data against its schema', () => engine.enqueue(wrong(checked), 'text'), { type: ValidationError, says: /a number is wanted/ }],
    ['what is no list of jobs', () => engine.enqueueMany(wrong(7)), wrongType('jobs', /iterable/)],
    [
      'too many jobs at once',
      () => engine.enqueueMany(Array.from({ length: 10_001 }, () => ({ job: 'a' }))),
      outOfRange('jobs', 10_000, /async iterable/),
    ],
    [
      'too many bytes at once',
      () => engine.enqueueMany(Array.from({ length: 17 }, () => ({ job: 'a', data: 'x'.repeat(MIB - 2) }))),
      outOfRange('jobs', 16 * MIB, /async iterable/),
    ],
    [
      'one bad job among good ones',
      () => engine.enqueueMany([{ job: 'a' }, { job: 'a', options: { delay: -1 } }, { job: 'a' }]),
      outOfRange('delay', 0, /0/),
    ],
    ['an item that is none', () => engine.enqueueMany(wrong([{ job: 'a' }, null])), wrongType('jobs[1]', /\{ job, data, options \}/)],
    ['no handlers', () => engine.work([]), wrongType('handlers', /definition\.handler/)],
    ['a handler that is a function', () => engine.work(wrong([() => 1])), wrongType('handlers', /definition\.handler/)],
    ['two handlers for one name', () => engine.work([a.handler(() => 1), a.handler(() => 2)]), outOfRange('handlers', 1, /'a'/)],
    ['a worker of no concurrency', () => engine.work([a.handler(() => 1)], { concurrency: 0 }), outOfRange('concurrency', 1, /1/)],
    [
      'more at least than at most',
      () => engine.work([a.handler(() => 1)], { minConcurrency: 9, maxConcurrency: 3 }),
      outOfRange('minConcurrency', 3, /lower one or raise/),
    ],
    ['an id that is a number', () => engine.get(wrong(5)), wrongType('id', /a string, got 5/)],
    ['a job that is not there', () => engine.cancel('no id at all'), { type: JobNotFoundError, says: /no id at all/ }],
    ['the id of nothing', () => engine.delete('01890000-0000-7000-8000-000000000001'), { type: JobNotFoundError, says: /there is no job/ }],
    ['a job that is done', () => engine.update(done, { priority: 1 }), { type: JobFinishedError, says: /completed/ }],
    ['an update of nothing', () => engine.update(bystander, {}), wrongType('changes', /at least one of/)],
    ['an update of what is fixed', () => engine.update(bystander, wrong({ state: 'waiting' })), wrongType('state', /update/)],
    ['an unknown state', () => engine.list({ state: wrong('done') }), wrongType('state', /'completed'/)],
    ['a page without end', () => engine.list({ limit: 201 }), outOfRange('limit', 200, /200/)],
    ['a cursor from elsewhere', () => engine.list({ after: 'x' }), wrongType('after', /earlier page/)],
    ['a redrive of less than one', () => engine.redrive({ limit: 0 }), outOfRange('limit', 1, /1/)],
    ['an empty filter', () => engine.deleteMany({}), wrongType('filter', /all: true/)],
    ['a filter of nothing that is set', () => engine.cancelMany({ tag: undefined } as never), wrongType('filter', /every job/)],
    ['all, and some', () => engine.deleteMany({ all: true, queue: 'q' }), wrongType('all', /queue only some/)],
    ['all, or not', () => engine.retryMany({ all: wrong(false) }), wrongType('all', /true/)],
    ['a filter that is none', () => engine.deleteMany(wrong('failed')), wrongType('options', /filter of deleteMany/)],
    ['a filter by what is none', () => engine.cancelMany({ tags: ['t'] } as never), wrongType('tags', /did you mean 'tag'/)],
    ['an unknown state of many', () => engine.deleteMany({ state: wrong('done') }), wrongType('state', /'completed'/)],
    ['ids that are none', () => engine.deleteMany({ ids: wrong([5]) }), wrongType('ids[0]', /id of a job/)],
    ['a slice of nothing', () => engine.deleteMany({ all: true }, { limit: 0 }), outOfRange('limit', 1, /1/)],
    ['a dry run, perhaps', () => engine.deleteMany({ all: true }, { dryRun: wrong('yes') }), wrongType('dryRun', /true or false/)],
    ['an unknown event', () => engine.on(wrong('finished'), () => {}), wrongType('event', /completed/)],
    ['a listener that is none', () => engine.on('completed', wrong('listener')), wrongType('listener', /function/)],
    ['a backup to nowhere', () => engine.backup(''), wrongType('file', /is empty/)],
    ['a stop of no duration', () => engine.stop({ timeout: -1 }), outOfRange('timeout', 0, /0/)],
  ]

  test.each([...CALLS])('%s', async (_what, call, failure) => {
    const before = await engine.stats()
    await expectFailure(call, failure)
    const { states, totals, workers } = await engine.stats()
    expect({ states, totals, workers }).toEqual({ states: before.states, totals: before.totals, workers: before.workers })
    expect(await engine.get(bystander)).toMatchObject({ state: 'scheduled', data: { n: 1 }, priority: 0 })
  })

  test('what is no id is no job', async () => expect(await engine.get('no id')).toBeUndefined())

  test('a result is waited for as long as can be said', async () => {
    const handle = await engine.enqueue('nobody')
    await expectFailure(() => handle.result({ timeout: -1 }), outOfRange('timeout', 0, /0/))
    await expectFailure(() => handle.result(wrong({ signal: {} })), wrongType('signal', /AbortSignal/))
    await engine.delete(handle.id)
  })

  test('what a handler does wrong fails its run, by name, and nothing else', async () => {
    const bad = defineJob({ name: 'bad', maxAttempts: 1 })
    const worker = engine.work([
      bad.handler(({ data, enqueue, progress }) => {
        if (data === 'output') return 1n
        if (data === 'enqueue') return enqueue('x', null, { delay: -1 })
        return progress(2)
      }),
    ])
    for (const [data, cause] of [
      ['output', 'OptionTypeError'],
      ['enqueue', 'OptionRangeError'],
    ]) {
      const handle = await engine.enqueue(bad, data)
      await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { name: cause } })
      await engine.delete(handle.id)
    }
    // What is said of progress is not worth a job.
    const handle = await engine.enqueue(bad, 'progress')
    expect(await handle.result()).toBeUndefined()
    expect(await engine.get(handle.id)).toMatchObject({ progress: undefined, state: 'completed' })
    await engine.delete(handle.id)
    await worker.stop()
  })
})

test('a second owner of the file', async () => {
  const file = temporaryFile()
  await using engine = await openEngine({ file })
  await expectFailure(() => openEngine({ file }), { type: AlreadyOpenError, says: /use that engine, or stop it first/ })
  expect((await engine.enqueue(a)).created).toBe(true)
})

test('every call after stop', async () => {
  const file = temporaryFile()
  const engine = await openEngine({ file })
  const handle = await engine.enqueue(a)
  await engine.stop()
  const handlers: Handler[] = [a.handler(() => 1)]
  const calls: (() => unknown)[] = [
    () => engine.enqueue(a),
    () => engine.enqueueMany([{ job: a }]),
    () => engine.work(handlers),
    () => engine.get(handle.id),
    () => engine.list(),
    () => engine.stats(),
    () => engine.workers(),
    () => engine.cancel(handle.id),
    () => engine.redrive(),
    () => engine.deleteMany({ all: true }),
    () => engine.backup(`${file}.copy`),
    () => engine.port(),
    () => handle.result(),
  ]
  for (const call of calls) await expectFailure(call, { type: EngineStoppedError, says: /was stopped: open it again/ })
  await engine.stop()
  expect(tableRows(file, 'job').length).toBe(1)
})
