// Flags, each with its effect on what the engine has then: those that the tests of single commands do not give.
import { openEngine } from '@millrace/engine'
import { expect, test } from 'vitest'
import { Place } from './millrace.ts'

const LONG = 300_000

test('of a job: weight, ttl, keys and how long they are known, debounce, throttle', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const plain = (await place.ok('enqueue', 'mail')).trim()
  const keyed = ['enqueue', 'mail', '--idempotency-key', 'k', '--idempotency-ttl', '1h']
  const id = (
    await place.ok(...keyed, '--weight', '3', '--ttl', '1h', '--concurrency-key', 'c', '--summary', 'To Ada', '--timeout', 'none')
  ).trim()
  expect(await place.okJson(...keyed)).toEqual({ id, created: false })
  const job = await place.okJson('jobs', 'show', id)
  expect(job).toMatchObject({ weight: 3, concurrencyKey: 'c', summary: 'To Ada', idempotencyKey: 'k', timeout: null })
  expect(await place.ok('jobs', 'list')).toMatch(/ mail: To Ada +default .*\n.* mail +default /)
  expect(Date.parse(job['expiresAt'] as string) - Date.parse(job['enqueuedAt'] as string)).toBe(3_600_000)
  for (const shaped of [
    ['--debounce', 'd', '--debounce-delay', '1h'],
    ['--throttle', 't', '--throttle-period', '1h'],
  ]) {
    const first = await place.okJson('enqueue', 'mail', ...shaped)
    expect(await place.okJson('enqueue', 'mail', ...shaped)).toEqual({ id: first['id'], created: false })
  }
  expect(await place.okJson('jobs', 'show', plain)).toMatchObject({
    weight: 1,
    maxAge: null,
    concurrencyKey: null,
    expiresAt: null,
    timeout: 300_000,
  })
  expect(await place.okJson('stats')).toMatchObject({ totals: { enqueued: 4 } })
})

test('of a job: its tokens, the workers that it may lose, and how long it is kept, as `jobs show` prints them', {
  timeout: LONG,
}, async () => {
  const place = new Place()
  await place.serve()
  const plain = (await place.ok('enqueue', 'mail')).trim()
  const costly = (await place.ok('enqueue', 'mail', '--tokens', '2500', '--max-lost', '2', '--keep', '1h')).trim()
  const kept = (await place.ok('enqueue', 'mail', '--tokens', '1', '--keep', 'forever')).trim()
  const lines = async (id: string) =>
    (await place.ok('jobs', 'show', id)).split('\n').flatMap((each) => /^(tokens|keep|lost workers) +(.*)$/.exec(each)?.slice(1) ?? [])
  expect(await lines(costly)).toEqual(['lost workers', '0 of 2 allowed', 'tokens', '2,500', 'keep', '1h 0m'])
  expect(await lines(kept)).toEqual(['keep', 'forever'])
  expect(await lines(plain)).toEqual([])
  expect(await place.okJson('jobs', 'show', costly)).toMatchObject({ tokens: 2_500, maxLost: 2, keep: 3_600_000 })
})

test('of a queue: every setting, and a pause of a key', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  await place.ok('enqueue', 'mail', '--queue', 'other')
  const turns = [
    '--shared-limit',
    'smtp:5',
    '--per-key-limit',
    '2',
    '--per-key-rate-limit',
    '5/1m',
    '--key-tiers',
    '{"gold":{"perKeyLimit":9}}',
    '--key-order',
    'turns',
    '--share',
    '3',
    '--fairness',
    'name',
    '--repeats',
    'event',
    '--empties',
    'event',
    '--alert-after',
    '5m',
  ]
  expect(
    await place.okJson('queues', 'set', 'out', ...turns, '--max-length', '9', '--on-full', 'drop-oldest', '--dead-letter', 'dead'),
  ).toMatchObject({
    settings: {
      sharedLimit: { name: 'smtp', limit: 5 },
      perKeyLimit: 2,
      perKeyRateLimit: { limit: 5, period: 60_000 },
      keyTiers: { gold: { perKeyLimit: 9 } },
      share: 3,
      fairness: 'name',
      repeats: 'event',
      empties: 'event',
      alertAfter: 300_000,
      maxLength: 9,
      onFull: 'drop-oldest',
      deadLetter: 'dead',
    },
  })
  expect(
    await place.okJson('queues', 'set', 'out', '--per-key-limit', 'none', '--key-tiers', 'none', '--key-order', 'strict'),
  ).toMatchObject({
    settings: { keyOrder: 'strict', share: 3 },
  })
  expect(await place.okJson('queues', 'pause', 'out', '--key', 'c')).toEqual({
    queue: 'out',
    job: null,
    key: 'c',
    for: null,
    until: null,
    paused: true,
  })
  expect(await place.okJson('queues', 'show', 'out')).toMatchObject({ paused: false, pausedKeys: ['c'] })
  await place.ok('queues', 'resume', 'out', '--key', 'c')
  expect(await place.okJson('queues', 'show', 'out')).toMatchObject({ pausedKeys: [] })
  expect(await place.okJson('queues', 'show', 'other')).toMatchObject({ settings: {}, paused: false, pausedKeys: [] })
})

test('of a schedule: from when to when, how late, what is caught up, one at once, and how its jobs run', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  await place.ok('schedules', 'set', 'other', 'tick', '--every', '1h')
  const times = ['--start-at', '2040-01-01T00:00:00Z', '--end-at', '2041-01-01T00:00:00Z', '--jitter', '1s', '--catch-up', 'all']
  const run = [
    '--weight',
    '2',
    '--tokens',
    '4',
    '--ttl',
    '1h',
    '--max-age',
    '6h',
    '--max-lost',
    '3',
    '--keep',
    'forever',
    '--log-lines',
    '500',
    '--run-immediately',
  ]
  await place.ok('schedules', 'set', 'yearly', 'report', '--every', '1d', ...times, ...run)
  const shown = await place.okJson('schedules', 'show', 'yearly')
  expect(shown).toMatchObject({
    startAt: '2040-01-01T00:00:00.000Z',
    endAt: '2041-01-01T00:00:00.000Z',
    jitter: 1_000,
    catchUp: 'all',
    options: { weight: 2, tokens: 4, ttl: 3_600_000, maxAge: 21_600_000, maxLost: 3, logLines: 500, keep: 3_153_600_000_000 },
    nextRunAt: expect.stringMatching(/^2040-01-01T00:00:0[01]/),
  })
  expect(await place.okJson('jobs', 'list', '--name', 'report')).toMatchObject({
    jobs: [{ weight: 2, tokens: 4, maxAge: 21_600_000, maxLost: 3, keep: 3_153_600_000_000, lostRuns: 0, state: 'waiting' }],
  })
  expect(await place.okJson('jobs', 'list', '--name', 'tick')).toMatchObject({ jobs: [] })
  expect((await place.okJson('schedules', 'next', 'yearly', '--times', '3'))['nextRuns']).toHaveLength(3)
})

test('of data: bytes, of a job, of jobs by stdin, of a schedule, and of the short lines of an import', { timeout: LONG }, async () => {
  const place = new Place()
  await place.serve()
  const dataOf = async (...args: readonly string[]) => ((await place.okJson(...args)) as { data: unknown }).data
  const id = (await place.ok('enqueue', 'mail', 'AQL/', '--binary')).trim()
  expect(await dataOf('jobs', 'show', id)).toEqual({ base64: 'AQL/' })
  expect(await place.run('enqueue', 'mail', 'AQL', '--binary')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('must be base64'),
  })
  expect((await place.feed('AQL/\n//8=\n', 'enqueue', 'fed', '-', '--binary')).code).toBe(0)
  const line = { job: 'fed', data: { base64: 'AA==' } }
  const lines = [{ ...line, binary: ['data'] }, line, { ...line, data: 'AQL', binary: ['data'] }]
  expect(await place.feed(lines.map((each) => JSON.stringify(each)).join('\n'), 'import', '-', '--json')).toMatchObject({
    code: 1,
    json: { enqueued: 2, errors: [{ line: 3, code: 'OPTION_TYPE' }] },
  })
  const { jobs } = (await place.okJson('jobs', 'list', '--name', 'fed')) as unknown as { jobs: { data: unknown }[] }
  expect(jobs.map(({ data }) => data)).toEqual(['AA==', 'AA==', '//8=', 'AQL/'].map((base64) => ({ base64 })))
  await place.ok('schedules', 'add', 'bytes', 'tick', 'AQL/', '--every', '1h', '--binary')
  expect(await dataOf('schedules', 'show', 'bytes')).toEqual({ base64: 'AQL/' })
  await place.ok('schedules', 'update', 'bytes', '--data', '//8=', '--binary')
  expect(await dataOf('schedules', 'show', 'bytes')).toEqual({ base64: '//8=' })
})

test('of a job in a flow: all that waits for it, cancelled and brought back', { timeout: LONG }, async () => {
  const place = new Place()
  const engine = await openEngine({ file: place.file, durability: 'normal' })
  const { jobs } = await engine.flow([
    { ref: 'load', job: 'load' },
    { ref: 'sum', job: 'sum', dependsOn: ['load'] },
  ])
  const bystander = await engine.enqueue('load')
  await engine.stop()
  await place.serve()
  const states = async () => {
    const found = await Promise.all([jobs.load.id, jobs.sum.id, bystander.id].map((id) => place.okJson('jobs', 'show', id)))
    return found.map(({ state }) => state)
  }
  await place.ok('jobs', 'cancel', jobs.load.id, '--descendants')
  expect(await states()).toEqual(['cancelled', 'cancelled', 'waiting'])
  await place.ok('jobs', 'retry', jobs.load.id, '--descendants')
  expect(await states()).toEqual(['waiting', 'blocked', 'waiting'])
})

test('what goes on ends by itself after its time', { timeout: LONG }, async () => {
  const place = new Place()
  expect((await place.okJson('demo', 'producer', '--rate', '100', '--duration', '100ms'))['created']).toBeGreaterThan(0)
  // Of the two, one is over before there is an engine.
  for (const time of ['1ms', '2s']) {
    const worker = await place.run('demo', 'worker', '--work', '0', '--duration', time)
    expect(worker).toMatchObject({ code: 0, stderr: expect.stringContaining('time is up') })
  }
})

test('of an endpoint: its secret, which no other has', { timeout: LONG }, async () => {
  const place = new Place()
  await place.ok('enqueue', 'mail')
  const add = (id: string, ...flags: readonly string[]) => [
    'webhooks',
    'add',
    id,
    'https://example.com/hook',
    '--events',
    'failed',
    ...flags,
  ]
  expect(await place.okJson(...add('shop', '--secret', 'main', '--queues', 'mail,out'))).toMatchObject({
    secret: 'main',
    queues: ['mail', 'out'],
  })
  const refused = await place.run(...add('bank', '--secret', 'main'))
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/^millrace: --secret: .*endpoint 'shop'.*\(OPTION_TYPE\)\n$/) })
  expect(await place.okJson('webhooks', 'list')).toMatchObject({ webhooks: [{ id: 'shop' }] })
})
