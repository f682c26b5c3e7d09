/** Queues and schedules of the configuration, at each start. */
import { type Engine, openEngine } from '@millrace/engine'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { type Config, SCHEMA } from '../config/schema/schema.ts'
import { setSetting } from '../config/settings.ts'
import { Control } from '../control/control.ts'
import { SYSTEM } from '../control/surroundings.ts'
import { apply as applyWith } from './apply.ts'
import { SECTIONS } from './leavers.ts'

let control: Control
let warnings: object[]
beforeEach(() => {
  control = new Control(':memory:', SYSTEM)
  warnings = []
  onTestFinished(() => control.close())
})
const warn = (message: string, fields?: object) => void warnings.push({ message, ...fields })
const logger = { debug() {}, info() {}, warn, error() {} }
const apply = (engine: Engine, config: Config) => applyWith(engine, config, control, logger)

async function opened(): Promise<Engine> {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  return engine
}

const CONFIG = SCHEMA.parse({
  queues: {
    mail: {
      maxLength: 5,
      rateLimit: { limit: 10, period: '1m' },
      retention: { failed: '3d' },
      defaults: { maxAttempts: 7, timeout: 'Infinity' },
      paused: true,
    },
    other: {},
  },
  schedules: {
    nightly: { cron: '0 3 * * *', timezone: 'Europe/Berlin', job: 'clean', data: { deep: true }, queue: 'mail', options: { priority: 4 } },
  },
})

test('what is named is set, and to apply it again changes nothing', async () => {
  const engine = await opened()
  for (let times = 0; times < 2; times++) {
    await apply(engine, CONFIG)
    expect(await engine.queues.get('mail')).toMatchObject({
      paused: true,
      settings: {
        maxLength: 5,
        rateLimit: { limit: 10, period: 60_000, burst: 10 },
        retention: { failed: { ageMs: 3 * 86_400_000 } },
        defaults: { maxAttempts: 7, timeout: Number.POSITIVE_INFINITY },
      },
    })
    expect(await engine.schedules.get('nightly')).toMatchObject({
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
      job: 'clean',
      data: { deep: true },
      options: { queue: 'mail', priority: 4 },
    })
  }
  expect((await engine.schedules.list()).schedules).toHaveLength(1)
})

test('a schedule that is to be paused never fires, and false resumes it', async () => {
  const engine = await opened()
  const paused = (value: boolean) => SCHEMA.parse({ schedules: { held: { every: '1h', job: 'x', paused: value } } })
  await apply(engine, paused(true))
  expect(await engine.schedules.get('held')).toMatchObject({ paused: true, runs: 0 })
  await engine.schedules.resume('held')
  await apply(engine, paused(true))
  expect(await engine.schedules.get('held')).toMatchObject({ paused: true })
  await apply(engine, paused(false))
  expect(await engine.schedules.get('held')).toMatchObject({ paused: false })
})

test('what is not named stays as it was told at run time', async () => {
  const engine = await opened()
  await apply(engine, CONFIG)
  for (const [key, value] of [
    ['share', 3],
    ['max-length', 9],
    ['retention.completed', '1d'],
    ['priority', 5],
    ['max-attempts', 2],
  ] as const)
    await setSetting(engine, key, value, { queue: 'mail' })
  await engine.queues.pause('other')
  await engine.schedules.upsert('theirs', { every: '1h' }, { job: 'x' })
  await apply(engine, CONFIG)
  expect((await engine.queues.get('mail'))?.settings).toMatchObject({
    share: 3,
    maxLength: 5,
    retention: { completed: { ageMs: 86_400_000 }, failed: { ageMs: 3 * 86_400_000 } },
    defaults: { priority: 5, maxAttempts: 7 },
  })
  expect((await engine.queues.get('other'))?.paused).toBe(true)
  expect(await engine.schedules.get('theirs')).toBeDefined()
})

const withIds = (...ids: readonly string[]) =>
  SCHEMA.parse({ schedules: Object.fromEntries(ids.map((id) => [id, { every: '1h', job: 'x' }])) })

test('a schedule that has left the configuration is reported at each start until it is deleted, and is never deleted by the daemon', async () => {
  const engine = await opened()
  await engine.schedules.upsert('bystander', { every: '1h' }, { job: 'x' })
  await apply(engine, withIds('a', 'report/b'))
  await apply(engine, withIds('a', 'report/b'))
  expect(warnings).toEqual([])
  for (let starts = 1; starts <= 2; starts++) {
    await apply(engine, withIds('a'))
    expect(warnings).toHaveLength(starts)
  }
  expect(warnings[0]).toEqual({
    message: 'a schedule has left the configuration, and still creates jobs: delete it, or pause it',
    schedule: 'report/b',
    next: expect.any(Date),
    command: 'millrace schedules delete report/b',
  })
  expect((await engine.schedules.list()).schedules.map(({ id }) => id)).toEqual(['a', 'bystander', 'report/b'])
  await engine.schedules.delete('report/b')
  await apply(engine, withIds('a'))
  // Another one of that id is not of the configuration.
  await engine.schedules.upsert('report/b', { every: '2h' }, { job: 'x' })
  await apply(engine, withIds('a'))
  expect(warnings).toHaveLength(2)
})

test.each<[what: string, warned: number, change: (engine: Engine) => unknown]>([
  ['came back into the configuration', 0, (engine) => apply(engine, withIds('a'))],
  ['is paused', 0, (engine) => engine.schedules.pause('a')],
  ['was paused and resumed', 1, async (engine) => [await engine.schedules.pause('a'), await engine.schedules.resume('a')]],
  ['has created a job by hand', 1, (engine) => engine.schedules.trigger('a')],
  ['a program has set since', 0, (engine) => engine.schedules.upsert('a', { every: '2h' }, { job: 'x' })],
  ['was changed by hand', 0, (engine) => engine.schedules.update('a', { every: '2h' })],
])('a schedule that left and %s: %i warnings', async (_what, warned, change) => {
  const engine = await opened()
  await apply(engine, withIds('a'))
  await change(engine)
  await apply(engine, withIds(...(_what.startsWith('came') ? ['a'] : [])))
  expect(warnings).toHaveLength(warned)
})

test('a schedule that has ended is not reported', async () => {
  const engine = await opened()
  const ended = SCHEMA.parse({ schedules: { a: { every: '1h', endAt: '2020-01-01T00:00:00Z', job: 'x' } } })
  await apply(engine, ended)
  await apply(engine, withIds())
  expect(warnings).toEqual([])
})

const withMail = (settings: object, http = {}) => SCHEMA.parse({ queues: { mail: settings }, http })

test.each<[what: string, before: object, after: object, warned: readonly (readonly [setting: string, value: unknown])[]]>([
  ['all stay', { maxLength: 5, paused: true }, { maxLength: 6, paused: true }, []],
  ['one leaves', { maxLength: 5, retention: { failed: '3d' } }, { maxLength: 5 }, [['retention.failed', { ageMs: 3 * 86_400_000 }]]],
  [
    'the queue leaves',
    { defaults: { timeout: 'Infinity' }, paused: true },
    {},
    [
      ['defaults.timeout', Number.POSITIVE_INFINITY],
      ['paused', true],
    ],
  ],
  ['one leaves that had no effect', { paused: false }, {}, []],
])('settings of a queue: %s', async (_what, before, after, warned) => {
  const engine = await opened()
  await apply(engine, withMail(before))
  for (let starts = 1; starts <= 2; starts++) {
    warnings = []
    await apply(engine, withMail(after))
    expect(warnings.map((warning) => [(warning as { setting: string }).setting, (warning as { value: unknown }).value])).toEqual(
      warned.map(([setting, value]) => [setting, typeof value === 'object' ? expect.objectContaining(value as object) : value]),
    )
  }
  // Somebody else decides from now on.
  await engine.queues.resume('mail')
  await engine.queues.configure('mail', { retention: { failed: '4d' }, defaults: { timeout: '1m' } })
  warnings = []
  await apply(engine, withMail(after))
  expect(warnings.filter((warning) => (warning as { setting: string }).setting !== 'maxLength')).toEqual([])
})

test('a queue that was deleted is not reported', async () => {
  const engine = await opened()
  await apply(engine, withMail({ maxLength: 5 }))
  await engine.queues.delete('mail')
  await apply(engine, withMail({}))
  expect(warnings).toEqual([])
})

test('two daemons of one file, each with a configuration of its own, do not report what the other sets', async () => {
  const engine = await opened()
  const [first, second] = [7410, 7411].map(
    (port) => (ids: readonly string[], queues: object) =>
      apply(
        engine,
        SCHEMA.parse({ http: { port }, queues, schedules: Object.fromEntries(ids.map((id) => [id, { every: '1h', job: 'x' }])) }),
      ),
  ) as [(ids: readonly string[], queues: object) => Promise<void>, (ids: readonly string[], queues: object) => Promise<void>]
  for (let starts = 0; starts < 2; starts++) {
    await first(['a', 'both'], { mail: { maxLength: 5 } })
    await second(['b', 'both'], { other: { maxLength: 5 } })
  }
  expect(warnings).toEqual([])
  // The other still has it.
  await first(['a'], { mail: { maxLength: 5 } })
  expect(warnings).toEqual([])
  await second(['b'], {})
  expect(warnings).toMatchObject([{ queue: 'other', setting: 'maxLength' }, { schedule: 'both' }])
  await first([], { mail: { maxLength: 5 } })
  expect(warnings).toMatchObject([{}, {}, { schedule: 'a' }])
})

test('each section of the configuration is remembered, or says why not', () => {
  const sections = Object.entries(SECTIONS)
  expect(sections.map(([name]) => name).toSorted()).toEqual(Object.keys(SCHEMA.shape).toSorted())
  const remembered = sections.filter(([, about]) => 'remembered' in about).map(([name]) => name)
  // A section of names that is not remembered runs in the daemon alone.
  expect(remembered).toEqual(['queues', 'schedules', 'endpoints'])
  for (const [name, about] of sections) if ('notBecause' in about) expect(about.notBecause, name).toMatch(/^\w+ /)
})

test('what only the engine can see is told with its key', async () => {
  const config = SCHEMA.parse({ schedules: { a: { every: '1s', job: 'x', options: { unique: { key: 'k' } } } } })
  await expect(apply(await opened(), config)).rejects.toMatchObject({
    code: 'CONFIG',
    message: expect.stringContaining("'schedules.a': the job of a schedule takes no unique key"),
  })
})
