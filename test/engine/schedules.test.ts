/** Schedules through the public interface, under the virtual clock: restarts, suspends, long sleeps, and the bugs that others had. */
import {
  defineJob,
  LIMITS,
  OptionRangeError,
  OptionTypeError,
  ScheduleExistsError,
  type ScheduleListOptions,
  ScheduleNotFoundError,
  type ScheduleOptions,
} from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import { afterEach, describe, expect, test } from 'vitest'
import { tamper } from '../../packages/sqlite/src/testing/inspect.ts'
import { temporaryFile } from '../temporary.ts'

const open: TestEngine[] = []

afterEach(async () => {
  for (const t of open.splice(0)) await t[Symbol.asyncDispose]()
})

/** The test engine's clock begins there. */
const BEGIN = Date.UTC(2030, 0, 1)
const DAY = 86_400_000

const report = defineJob<{ to: string }>({ name: 'report', timeout: '1h' })
const REPORT = { job: report, data: { to: 'ada' } }

/** An engine whose worker notes the ticks that it runs. */
function start(options: { file?: string; work?: boolean; run?: () => unknown } = {}) {
  const t = createTestEngine(options.file === undefined ? {} : { file: options.file })
  open.push(t)
  const ticks: string[] = []
  if (options.work !== false) {
    t.engine.work([
      report.handler(({ job }) => {
        ticks.push((job.meta as { schedule: { at: string } }).schedule.at)
        return options.run?.()
      }),
    ])
  }
  return Object.assign(t, { ticks, schedules: t.engine.schedules })
}

async function stop(t: TestEngine): Promise<void> {
  open.splice(open.indexOf(t), 1)
  await t[Symbol.asyncDispose]()
}

test('E13, M9: a cron expression, from the first upsert to its result', async () => {
  const t = start({ run: () => 'sent' })
  const options: ScheduleOptions = { cron: '30 2 * * *', timezone: 'Europe/Berlin' }
  const first = new Date('2030-01-01T01:30:00Z')
  expect(await t.schedules.upsert('reports/daily', options, REPORT)).toEqual({ id: 'reports/daily', created: true, nextRunAt: first })
  await t.advance('1d')
  expect(t.ticks).toEqual(['2030-01-01T01:30:00.000Z'])
  // As at each start of the application.
  const next = new Date('2030-01-02T01:30:00Z')
  expect(await t.schedules.upsert('reports/daily', options, REPORT)).toEqual({ id: 'reports/daily', created: false, nextRunAt: next })
  const schedule = await t.schedules.get('reports/daily', { times: 2 })
  expect(schedule).toEqual({
    id: 'reports/daily',
    cron: '30 2 * * *',
    timezone: 'Europe/Berlin',
    startAt: undefined,
    endAt: undefined,
    jitter: 0,
    overlap: 'skip',
    catchUp: 'latest',
    job: 'report',
    data: { to: 'ada' },
    options: { timeout: 3_600_000 },
    paused: false,
    nextRunAt: next,
    nextRuns: [next, new Date('2030-01-03T01:30:00Z')],
    lastRunAt: first,
    lastJobId: expect.any(String),
    lastResult: { state: 'completed', output: 'sent', error: undefined },
    runs: 1,
    skipped: 0,
    createdAt: new Date(BEGIN),
    updatedAt: new Date(BEGIN),
  })
  const { jobs } = await t.engine.list({ tag: 'schedule:reports/daily' })
  expect(jobs.map(({ id }) => id)).toEqual([schedule?.lastJobId])
})

test('dst-fold-lord-howe-once: through the engine, on the days on which clocks change', async () => {
  const t = start()
  t.clock.jump(Date.UTC(2030, 3, 5) - BEGIN)
  await t.schedules.upsert('fold', { cron: '45 1 * * *', timezone: 'Australia/Lord_Howe' }, REPORT)
  for (let hour = 0; hour < 72; hour++) await t.advance('1h')
  expect(t.ticks).toEqual(['2030-04-05T14:45:00.000Z', '2030-04-06T14:45:00.000Z', '2030-04-07T15:15:00.000Z'])
})

describe('restarts', () => {
  test('reconnect-rearms-timer: the next tick is kept, and what was missed comes once', async () => {
    const file = temporaryFile()
    const first = start({ file })
    await first.schedules.upsert('s', { every: '1h' }, REPORT)
    await first.advance('90m')
    expect(first.ticks).toHaveLength(1)
    await stop(first)
    // Its clock begins at the same time again: set back, none fires twice.
    const second = start({ file })
    await second.advance('90m')
    expect(second.ticks).toEqual([])
    expect((await second.schedules.get('s'))?.nextRunAt).toEqual(new Date(BEGIN + 2 * 3_600_000))
    await second.advance('30m')
    expect(second.ticks).toEqual([new Date(BEGIN + 2 * 3_600_000).toISOString()])
    await stop(second)
    const third = start({ file })
    third.clock.jump(10.5 * 3_600_000)
    await third.advance('1m')
    expect(third.ticks).toEqual([new Date(BEGIN + 10 * 3_600_000).toISOString()])
  })

  test('a row that somebody has broken pauses its schedule alone', async () => {
    const file = temporaryFile()
    const first = start({ file })
    await first.schedules.upsert('bad', { every: '1h' }, REPORT)
    await first.schedules.upsert('good', { every: '1h' }, REPORT)
    await stop(first)
    tamper(file, "UPDATE schedule SET spec = ? WHERE id = 'bad'", '{"every":')
    const second = start({ file })
    await second.advance('1h')
    expect(second.ticks).toHaveLength(1)
    expect(await second.schedules.get('bad')).toMatchObject({ paused: true, runs: 0 })
    await expect(second.schedules.resume('bad')).rejects.toMatchObject({ code: 'INVALID_SCHEDULE' })
    await second.schedules.upsert('bad', { every: '1h' }, REPORT)
    await second.schedules.resume('bad')
    await second.advance('1h')
    expect(await second.schedules.get('bad')).toMatchObject({ paused: false, runs: 1 })
  })
})

describe('time', () => {
  test('a tick beyond 2^31 ms comes at its time: the loop sleeps in pieces', async () => {
    const t = start()
    await t.schedules.upsert('s', { every: 25 * DAY }, REPORT)
    await t.advance(25 * DAY - 1)
    expect(t.ticks).toEqual([])
    await t.advance(1)
    expect(t.ticks).toEqual([new Date(BEGIN + 25 * DAY).toISOString()])
  })

  test('suspend-resume-scheduler-alive: a machine that slept fires once when it is back, within a minute, and goes on', async () => {
    const t = start()
    await t.schedules.upsert('s', { cron: '0 * * * *' }, REPORT)
    t.clock.jump(50 * 3_600_000)
    await t.advance(LIMITS.timerSliceMs)
    expect(t.ticks).toEqual(['2030-01-03T02:00:00.000Z'])
    await t.advance('1h')
    expect(t.ticks).toHaveLength(2)
  })

  test('cron-early-wake-keeps-chain: a timer that is early, or a clock that is set back, ends nothing', async () => {
    const t = start()
    await t.schedules.upsert('s', { every: '1m' }, REPORT)
    for (let minute = 0; minute < 5; minute++) {
      t.clock.jump(-13)
      await t.advance('1m')
    }
    t.clock.jump(5 * 13)
    await t.advance('1m')
    const minutes = t.ticks.map((at) => (Date.parse(at) - BEGIN) / 60_000)
    expect(minutes).toEqual([...new Set(minutes)].sort((a, b) => a - b))
    expect(minutes.at(-1)).toBe(6)
  })
})

test('overlap queue: ticks wait for the job that runs, and the last of them comes at its end', async () => {
  let end: (() => void) | undefined
  const t = start({ run: () => new Promise<void>((resolve) => (end = resolve)) })
  await t.schedules.upsert('s', { every: '1m', overlap: 'queue' }, REPORT)
  await t.advance('3m')
  expect(t.ticks).toHaveLength(1)
  end?.()
  await quiet()
  expect(t.ticks.map((at) => (Date.parse(at) - BEGIN) / 60_000)).toEqual([1, 3])
  end?.()
})

test('what its jobs are enqueued with is told as it was given, and can be given again', async () => {
  const t = start({ run: () => 'done' })
  const options = { priority: 3, tags: ['n'], meta: { team: 'ops', deep: [1] } }
  await t.schedules.upsert('a', { every: '1h' }, { job: 'report', options })
  await t.schedules.upsert('bystander', { every: '1h' }, { job: 'report' })
  expect((await t.schedules.get('a'))?.options).toEqual(options)
  expect((await t.schedules.list()).schedules.map((schedule) => schedule.options)).toEqual([options, {}])
  await t.schedules.upsert('a', { every: '1h' }, { job: 'report', options: (await t.schedules.get('a'))?.options ?? {} })
  expect((await t.schedules.get('a'))?.options).toEqual(options)
})

test('lists of one queue or one job name, page by page, however many others there are', async () => {
  const t = start()
  t.engine.work([defineJob({ name: 'mail', queue: 'out' }).handler(() => {})])
  await t.advance(1)
  for (let each = 100; each < 640; each++) await t.schedules.upsert(`n${each}`, { every: '1h' }, { job: 'other' })
  await t.schedules.upsert('a', { every: '1h' }, { job: 'report', options: { queue: 'out' } })
  await t.schedules.upsert('n300x', { every: '1h' }, { job: 'report' })
  await t.schedules.upsert('z', { every: '1h' }, { job: 'mail' })
  const all = async (options: ScheduleListOptions) => {
    const found: string[] = []
    let pages = 0
    let after: string | undefined
    do {
      const page = await t.schedules.list({ ...options, ...(after !== undefined && { after }) })
      found.push(...page.schedules.map(({ id }) => id))
      after = page.next
      pages++
    } while (after !== undefined)
    return [found, pages]
  }
  expect(await all({ name: 'report' })).toEqual([['a', 'n300x'], 2])
  expect(await all({ name: 'report', limit: 1 })).toEqual([['a', 'n300x'], 3])
  // Its definition names the queue of `mail`.
  expect(await all({ queue: 'out' })).toEqual([['a', 'z'], 2])
  expect(await all({ queue: 'default', name: 'report', prefix: 'n' })).toEqual([['n300x'], 2])
  expect(await all({ queue: 'none' })).toEqual([[], 2])
  await expect(t.schedules.list({ queue: 'no queue' })).rejects.toMatchObject({ option: 'queue' })
})

test('M9: by hand: pause, resume, trigger, list, delete', async () => {
  const t = start({ run: () => 'done' })
  for (const id of ['b/1', 'a', 'b/2']) await t.schedules.upsert(id, { every: '1h', runImmediately: id === 'a' }, REPORT)
  await t.advance(1)
  expect(t.ticks).toHaveLength(1)
  const { schedules, next } = await t.schedules.list({ prefix: 'b/', limit: 1 })
  expect([schedules.map(({ id }) => id), next]).toEqual([['b/1'], 'b/1'])
  expect(schedules[0]).toMatchObject({ data: undefined, job: 'report', lastResult: undefined })
  const rest = await t.schedules.list({ prefix: 'b/', after: next as string })
  expect([rest.schedules.map(({ id }) => id), rest.next]).toEqual([['b/2'], undefined])
  await t.schedules.pause('a')
  await t.advance('5h')
  expect(await t.schedules.get('a', { times: 3 })).toMatchObject({ paused: true, nextRunAt: undefined, nextRuns: [], runs: 1 })
  await t.schedules.resume('a')
  const handle = await t.schedules.trigger('a')
  expect(handle.created).toBe(true)
  expect(await handle.result()).toBe('done')
  expect(await t.schedules.get('a')).toMatchObject({ nextRunAt: new Date(BEGIN + 6 * 3_600_000), runs: 2, lastJobId: handle.id })
  await t.schedules.delete('a')
  expect(await t.schedules.get('a')).toBeUndefined()
  for (const call of ['delete', 'pause', 'resume', 'trigger'] as const) {
    const error = await t.schedules[call]('a').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ScheduleNotFoundError)
    expect(error).toMatchObject({ code: 'SCHEDULE_NOT_FOUND', retryable: false, scheduleId: 'a' })
  }
})

describe('E13: one that is to be new, and one that is to be there', () => {
  test('add refuses an id that is taken, and changes nothing', async () => {
    const t = start()
    expect(await t.schedules.add('a', { every: '1h' }, REPORT)).toMatchObject({ id: 'a', created: true })
    const before = await t.schedules.get('a')
    const error = await t.schedules.add('a', { every: '2h' }, REPORT).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ScheduleExistsError)
    expect(error).toMatchObject({
      code: 'SCHEDULE_EXISTS',
      retryable: false,
      scheduleId: 'a',
      message: expect.stringMatching(/'a'.*upsert/),
    })
    expect(await t.schedules.get('a')).toEqual(before)
  })

  test('update changes what is named, and keeps the rest', async () => {
    const t = start()
    await t.schedules.upsert(
      'a',
      { every: '1h', jitter: '5s', startAt: BEGIN, endAt: BEGIN + DAY, overlap: 'queue' },
      { ...REPORT, options: { priority: 3, tags: ['x'] } },
    )
    await t.schedules.upsert('by', { every: '1h' }, REPORT)
    const by = await t.schedules.get('by')
    await t.schedules.update('a', { every: '2h', endAt: null })
    expect(await t.schedules.get('a')).toMatchObject({ every: 7_200_000, endAt: undefined, jitter: 5_000, overlap: 'queue', job: 'report' })
    expect(await t.schedules.update('a', { cron: '0 4 * * *', paused: true })).toEqual({ id: 'a', created: false, nextRunAt: undefined })
    const daily = await t.schedules.get('a')
    expect(daily).toMatchObject({ cron: '0 4 * * *', timezone: 'UTC', paused: true, data: { to: 'ada' } })
    expect(daily?.every).toBeUndefined()
    await t.schedules.update('a', { data: { to: 'bob' }, paused: false })
    await t.schedules.update('a', { timezone: 'Europe/Berlin', options: { priority: 4 } })
    expect(await t.schedules.get('a')).toMatchObject({
      timezone: 'Europe/Berlin',
      paused: false,
      data: { to: 'bob' },
      options: { priority: 4 },
    })
    expect(await t.schedules.get('by')).toEqual(by)
  })

  test('updateWaiting: an upsert and an update change the job that waits, and say so', async () => {
    const t = start({ work: false })
    const [every, told] = [{ every: '1h' }, { every: '1h', updateWaiting: true }] as const
    expect(await t.schedules.upsert('a', told, REPORT)).toMatchObject({ created: true, waitingUpdated: 0 })
    await t.schedules.upsert('by', every, REPORT)
    const [job, by] = [await t.schedules.trigger('a'), await t.schedules.trigger('by')]
    expect((await t.schedules.upsert('a', every, { ...REPORT, data: { to: 'bob' } })).waitingUpdated).toBeUndefined()
    expect((await t.engine.get(job.id))?.data).toEqual({ to: 'ada' })
    expect(await t.schedules.upsert('a', told, { ...REPORT, data: { to: 'bob' } })).toMatchObject({ waitingUpdated: 1 })
    expect((await t.engine.get(job.id))?.data).toEqual({ to: 'bob' })
    expect(await t.schedules.update('a', { updateWaiting: true, data: { to: 'eve' } })).toMatchObject({ waitingUpdated: 1 })
    expect((await t.engine.get(job.id))?.data).toEqual({ to: 'eve' })
    expect((await t.engine.get(by.id))?.data).toEqual({ to: 'ada' })
  })

  test('update refuses what is not there, and what cannot be', async () => {
    const t = start()
    await expect(t.schedules.update('none', { paused: true })).rejects.toBeInstanceOf(ScheduleNotFoundError)
    await t.schedules.upsert('a', { every: '1h' }, REPORT)
    const before = await t.schedules.get('a')
    for (const [changes, option] of [
      [{ timezone: 'Europe/Berlin' }, 'timezone'],
      [{ cron: 'x' }, 'cron'],
      [{ every: '1h', cron: '@daily' }, 'every'],
      [{ runImmediately: true }, 'runImmediately'],
      [{ options: { delay: 1 } }, 'delay'],
      [{ job: 5 }, 'job'],
      [{ paused: 'yes' }, 'paused'],
      [null, 'options'],
    ] as const) {
      const refused = await t.schedules.update('a', changes as never).catch((thrown: unknown) => thrown)
      expect(refused, option).toMatchObject({ code: 'OPTION_TYPE', option })
    }
    expect(await t.schedules.get('a')).toEqual(before)
  })

  test('updates of different fields at the same moment are all kept', async () => {
    const t = start()
    await t.schedules.upsert('a', { every: '1h' }, REPORT)
    await Promise.all([
      t.schedules.update('a', { every: '3h' }),
      t.schedules.update('a', { jitter: '7s' }),
      t.schedules.update('a', { data: { to: 'eve' } }),
      t.schedules.update('a', { overlap: 'cancel' }),
      t.schedules.update('a', { paused: true }),
    ])
    expect(await t.schedules.get('a')).toMatchObject({
      every: 3 * 3_600_000,
      jitter: 7_000,
      data: { to: 'eve' },
      overlap: 'cancel',
      paused: true,
    })
  })

  test('a schedule that is created paused waits to be resumed', async () => {
    const t = start()
    expect(await t.schedules.upsert('a', { every: '1h', paused: true }, REPORT)).toMatchObject({ created: true, nextRunAt: undefined })
    await t.advance('5h')
    expect(t.ticks).toEqual([])
    await t.schedules.resume('a')
    await t.advance('1h')
    expect(t.ticks).toHaveLength(1)
  })
})

test('M9: a seventh field is the year', async () => {
  const t = start()
  const { nextRunAt } = await t.schedules.upsert('a', { cron: '15 30 8 1 3 * 2032' }, REPORT)
  expect(nextRunAt).toEqual(new Date('2032-03-01T08:30:15Z'))
  expect((await t.schedules.get('a', { times: 5 }))?.nextRuns).toHaveLength(1)
})

describe('bad input is refused by name, with its range, and nothing is written', () => {
  // biome-ignore lint/suspicious/noExplicitAny: what types would refuse is what is tested
  const wrong = (value: unknown): any => value
  const every = { every: '1h' } as const
  test.each<[string, ScheduleOptions, object, abstract new (...args: never[]) => Error, string, RegExp]>([
    ['neither', {}, {}, OptionTypeError, 'cron', /cron or every/],
    ['both', { cron: '0 0 * * *', every: '1h' }, {}, OptionTypeError, 'every', /exclude each other/],
    ['no options', wrong(null), {}, OptionTypeError, 'options', /an object, got null/],
    ['a mistyped option', wrong({ crom: '0 0 * * *' }), {}, OptionTypeError, 'crom', /did you mean 'cron'/],
    ['a number of fields', { cron: '* * *' }, {}, OptionTypeError, 'cron', /must have 5 .*, 6 .* or 7 .*, got 3/],
    ['a minute of 61', { cron: '61 * * * *' }, {}, OptionTypeError, 'cron', /cannot be read: .*61/],
    ['a cron that is none', { cron: wrong(5) }, {}, OptionTypeError, 'cron', /a string, got 5/],
    ['an endless cron', { cron: '*'.repeat(300) }, {}, OptionRangeError, 'cron', /1 to 256 characters, got 300/],
    ['a day that never comes', { cron: '0 0 30 2 *' }, {}, OptionRangeError, 'cron', /never matches/],
    [
      'an unknown zone',
      { cron: '0 0 * * *', timezone: 'Europe/Atlantis' },
      {},
      OptionTypeError,
      'timezone',
      /IANA name .* got "Europe\/Atlantis"/,
    ],
    ['a zone for every', { every: '1h', timezone: 'UTC' }, {}, OptionTypeError, 'timezone', /requires cron/],
    ['too often', { every: 999 }, {}, OptionRangeError, 'every', /at least 1000 ms, got 999/],
    ['endAt before startAt', { ...every, startAt: 2_000, endAt: 1_000 }, {}, OptionRangeError, 'endAt', /not be before startAt/],
    ['jitter as long as every', { every: '1m', jitter: '1m' }, {}, OptionRangeError, 'jitter', /less than every, which is 60000 ms/],
    ['jitter of days', { cron: '0 0 * * 1', jitter: '2d' }, {}, OptionRangeError, 'jitter', /at most 1d/],
    [
      'an unknown overlap',
      { ...every, overlap: wrong('most') },
      {},
      OptionTypeError,
      'overlap',
      /'skip' or 'queue' or 'cancel' or 'allow'/,
    ],
    ['an unknown catchUp', { ...every, catchUp: wrong('most') }, {}, OptionTypeError, 'catchUp', /'latest' or 'all' or 'none'/],
    [
      'all that would be skipped',
      { ...every, catchUp: 'all', overlap: 'skip' },
      {},
      OptionTypeError,
      'overlap',
      /requires overlap 'queue' or 'allow'/,
    ],
    ['no runs', { ...every, maxRuns: 0 }, {}, OptionRangeError, 'maxRuns', /between 1 and 1000000000/],
    ['half a run', { ...every, maxRuns: 1.5 }, {}, OptionTypeError, 'maxRuns', /whole/],
    ['a bound of nothing', { ...every, catchUpWithin: 0 }, {}, OptionRangeError, 'catchUpWithin', /at least 1 ms/],
    [
      'two bounds',
      { ...every, catchUp: 'none', catchUpWithin: '1h' },
      {},
      OptionTypeError,
      'catchUpWithin',
      /requires catchUp 'latest' or 'all'/,
    ],
    ['runImmediately', { ...every, runImmediately: wrong(1) }, {}, OptionTypeError, 'runImmediately', /true or false/],
    ['updateWaiting', { ...every, updateWaiting: wrong(1) }, {}, OptionTypeError, 'updateWaiting', /true or false/],
    ['a delay', every, { options: { delay: 5 } }, OptionTypeError, 'delay', /takes no (delay|runAt): it is created at its tick/],
    ['a runAt', every, { options: { runAt: 5 } }, OptionTypeError, 'runAt', /takes no (delay|runAt): it is created at its tick/],
    ['an idempotencyKey', every, { options: { idempotencyKey: 'k' } }, OptionTypeError, 'idempotencyKey', /each tick fires once/],
    ['a unique key', every, { options: { unique: { key: 'k' } } }, OptionTypeError, 'unique', /overlap decides/],
    ['meta that is no object', every, { options: { meta: [1] } }, OptionTypeError, 'meta', /must be an object/],
    ['too many tags', every, { options: { tags: [...Array(32).keys()].map(String) } }, OptionRangeError, 'tags', /at most 31 tags/],
    ['no job', every, { job: 7 }, OptionTypeError, 'job', /by its definition/],
  ])('%s', async (_what, options, job, type, option, says) => {
    const t = start({ work: false })
    const error = await t.schedules.upsert('s', options, { ...REPORT, ...job } as typeof REPORT).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(type)
    expect(error).toMatchObject({ option, message: expect.stringMatching(says), retryable: false })
    expect((await t.schedules.list()).schedules).toEqual([])
  })

  test('ids, pages and counts', async () => {
    const t = start({ work: false })
    await expect(t.schedules.upsert('a b', every, REPORT)).rejects.toMatchObject({ option: 'id' })
    await expect(t.schedules.upsert('s', every, wrong(undefined))).rejects.toMatchObject({ option: 'job' })
    await expect(t.schedules.get('s', { times: 1_001 })).rejects.toMatchObject({ option: 'times', limit: 1_000 })
    await expect(t.schedules.list({ limit: 201 })).rejects.toMatchObject({ option: 'limit', limit: 200 })
    await expect(t.schedules.list({ prefix: '%' })).rejects.toMatchObject({ option: 'prefix' })
  })
})
