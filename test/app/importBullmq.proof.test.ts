// `millrace import --from bullmq`: what the real BullMQ has put into a real Redis is there once, and Redis is as it was.
import { defineJob, openEngine } from '@millrace/engine'
import { FlowProducer, type Job, Queue, Worker } from 'bullmq'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { contentOf, type RedisServer, startRedis } from '../redis.ts'
import { Place } from './millrace.ts'

const LONG = 300_000

interface Bull extends RedisServer {
  readonly place: Place
  queue(name: string): Queue
  /** A worker that takes its jobs by hand, and leaves them active. */
  hold(name: string): Promise<Job>
}

async function bull(context: TestContext): Promise<Bull> {
  const server = await startRedis(context)
  const { client: connection, connect } = server
  return {
    ...server,
    place: new Place(),
    queue: (name) => new Queue(name, { connection }),
    hold: async (name) => {
      const worker = new Worker(name, null, { connection: connect(), autorun: false })
      onTestFinished(() => worker.close(true))
      return (await worker.getNextJob('token')) as Job
    },
  }
}

const from = (url: string, ...args: readonly string[]) => ['import', '--from', 'bullmq', url, ...args]

test('jobs, delays, priorities, attempts and keys; twice is once, and Redis is as it was', { timeout: LONG }, async (context) => {
  const { url, client, place, queue } = await bull(context)
  const mail = queue('mail')
  await mail.add('welcome', { to: 'ada' }, { attempts: 5, backoff: { type: 'exponential', delay: 1_000, jitter: 0.5 } })
  await mail.add('later', { to: 'bob' }, { delay: 86_400_000, removeOnComplete: true })
  await mail.add('urgent', null, { priority: 3 })
  await mail.add('far', [1], { priority: 2_000_000 })
  await mail.add('once', 'text', { deduplication: { id: 'index' } })
  await mail.add('custom', { big: 1 }, { attempts: 2, backoff: { type: 'mine' } })
  await mail.add('two words', {})
  await queue('reports').add('plain', {}, { deduplication: { id: 'index', ttl: 86_400_000 } })
  await mail.setGlobalConcurrency(3)
  await mail.setGlobalRateLimit(10, 1_000)
  await mail.pause()
  const before = await contentOf(client)
  await place.ok('enqueue', 'bystander')

  // A user who may only read is enough.
  await client.call('ACL', 'SETUSER', 'reader', 'on', '>word', '~bull:*', '+@read')
  const dry = await place.run(...from(url.replace('//', '//reader:word@'), '--dry-run'))
  expect(dry).toMatchObject({ code: 0, stderr: '' })
  expect(dry.stdout).toContain('millrace queues set --rate-limit 10/1000ms mail')
  expect(dry.stdout).toContain('job has " " at position 3')
  expect(await place.okJson('stats')).toMatchObject({ totals: { enqueued: 1 } })

  const { code, json } = await place.run(...from(url, '--yes', '--json'))
  expect(code).toBe(1)
  expect(json).toMatchObject({
    plan: {
      rows: [
        { queue: 'mail', state: 'waiting', count: 3, becomes: 'waiting' },
        { queue: 'mail', state: 'waiting', count: 1, becomes: 'not imported: see below' },
        { queue: 'mail', state: 'prioritized', count: 2, becomes: 'waiting' },
        { queue: 'mail', state: 'delayed', count: 1, becomes: 'scheduled' },
        { queue: 'reports', state: 'waiting', count: 1, becomes: 'waiting' },
      ],
      settings: [{ command: 'millrace queues pause mail' }, { command: 'millrace queues set --concurrency-limit 3 mail' }, {}],
    },
    ...{ jobs: 7, existing: 0, unfit: 1, changed: false, errors: [{ id: expect.stringMatching(/^bull:mail:7:\d+$/) }] },
  })
  const features = (json['plan'] as { features: { feature: string; count: number }[] }).features.map(({ feature, count }) => [
    feature,
    count,
  ])
  expect(Object.fromEntries(features)).toEqual({
    ...{ delay: 1, priority: 1, 'priority beyond 1,000,000': 1, attempts: 2, backoff: 1, 'custom backoff': 1 },
    ...{ deduplication: 1, 'deduplication with ttl': 1, 'removeOnComplete, removeOnFail': 1 },
  })

  await place.serve()
  const { jobs } = (await place.okJson('jobs', 'list')) as { jobs: { id: string; name: string }[] }
  const shown = Object.fromEntries(await Promise.all(jobs.map(async ({ id, name }) => [name, await place.okJson('jobs', 'show', id)])))
  const plain = { queue: 'mail', state: 'waiting', maxAttempts: 1, priority: 0, timeout: null, attempt: 0 }
  expect(shown).toMatchObject({
    welcome: {
      ...{ ...plain, data: { to: 'ada' }, maxAttempts: 5 },
      ...{
        backoff: { type: 'exponential', delay: 750 },
        idempotencyKey: expect.stringMatching(/^millrace:import:bullmq:bull:mail:1:\d+$/),
      },
    },
    later: { ...plain, state: 'scheduled', data: { to: 'bob' } },
    urgent: { ...plain, data: null, priority: -3 },
    far: { ...plain, data: [1], priority: -1_000_000 },
    once: { ...plain, data: 'text', uniqueKey: 'index' },
    custom: { ...plain, data: { big: 1 }, maxAttempts: 2, backoff: { delay: 20_000 } },
    plain: { ...plain, queue: 'reports', uniqueKey: null },
    bystander: { queue: 'default', idempotencyKey: expect.stringMatching(/^cli:/) },
  })
  const [delayed] = await mail.getDelayed()
  expect(Date.parse((shown['later'] as { runAt: string }).runAt)).toBe((delayed as Job).timestamp + 86_400_000)

  const again = await place.run(...from(url, '--yes', '--json', '--rename', 'two words=two-words'))
  expect(again).toMatchObject({ code: 0, json: { jobs: 1, existing: 7, unfit: 0 } })
  expect(await place.okJson('jobs', 'list', '--name', 'two-words')).toMatchObject({ jobs: [{ queue: 'mail' }] })
  expect(await contentOf(client)).toBe(before)
})

test('jobs start in the order in which BullMQ starts them', { timeout: LONG }, async (context) => {
  const { url, connect, place, queue } = await bull(context)
  const work = queue('work')
  for (const [index, priority] of [0, 5, 1, 0, 5, 2, 0, 1].entries()) await work.add('step', index, { priority, lifo: index === 6 })
  await place.ok(...from(url, '--yes'))

  const theirs: number[] = []
  const worker = new Worker('work', async ({ data }) => void theirs.push(data), { connection: connect(), autorun: false })
  const drained = new Promise((resolve) => worker.once('drained', () => resolve(undefined)))
  worker.run()
  await drained
  await worker.close()

  const ours: number[] = []
  const engine = await openEngine({ file: place.file, durability: 'normal' })
  const all = new Promise((resolve) => engine.on('completed', () => ours.length === theirs.length && resolve(undefined)))
  engine.work(
    defineJob<number>({ name: 'step' }).handler(({ data }) => void ours.push(data)),
    { concurrency: 1 },
  )
  await all
  await engine.stop()
  expect(theirs).toHaveLength(8)
  expect(ours).toEqual(theirs)
})

test('a flow waits as it did; what has ended of it is in the meta of the job that waits', { timeout: LONG }, async (context) => {
  const { url, client, place, queue, hold } = await bull(context)
  const flows = new FlowProducer({ connection: client })
  const opts = { failParentOnFailure: true }
  await flows.add({
    ...{ name: 'sum', queueName: 'sums', data: { of: 3 }, opts: { delay: 5_000 } },
    children: [
      { name: 'part', queueName: 'parts', data: 1, opts },
      { name: 'part', queueName: 'parts', data: 2, opts },
      {
        name: 'total',
        queueName: 'sums',
        data: 3,
        opts,
        children: [{ name: 'leaf', queueName: 'parts', data: 4, opts: { ignoreDependencyOnFailure: true } }],
      },
    ],
  })
  const part = await hold('parts')
  const active = await place.run(...from(url, '--yes', '--json'))
  expect(active).toMatchObject({
    code: 1,
    json: { jobs: 0, flows: 0, errors: [{ message: expect.stringContaining('include active jobs to import it') }] },
  })
  await part.moveToCompleted({ found: part.data }, 'token', false)

  const only = await place.run(...from(url, '--only', 'parts', '--dry-run', '--json'))
  expect(only.json).toMatchObject({
    plan: { jobs: 0, unfit: 2, errors: [{ message: expect.stringContaining("the queue 'sums', which is not among those to import") }, {}] },
  })
  expect(await place.okJson(...from(url, '--yes'))).toMatchObject({
    jobs: 4,
    flows: 1,
    existing: 0,
    plan: { features: [{ feature: 'finished children' }] },
  })
  expect(await place.okJson(...from(url, '--yes'))).toMatchObject({ jobs: 0, flows: 0, existing: 1 })

  const { jobs } = (await place.okJson('jobs', 'list')) as { jobs: Record<string, unknown>[] }
  const sum = jobs.find(({ name }) => name === 'sum')
  expect(sum).toMatchObject({
    state: 'blocked',
    data: { of: 3 },
    meta: { children: { [`bull:parts:${part.id}`]: { output: { found: part.data } } } },
  })
  const { jobs: nodes } = (await place.okJson('flows', 'show', sum?.['id'] as string)) as { jobs: Record<string, unknown>[] }
  expect(nodes.map(({ name, state, onParentFailure }) => [name, state, onParentFailure]).toSorted()).toEqual([
    ['leaf', 'waiting', 'fail'],
    ['part', 'waiting', 'fail'],
    ['sum', 'blocked', 'fail'],
    ['total', 'blocked', 'continue'],
  ])
  expect(await queue('sums').getWaitingChildrenCount()).toBe(2)
})

test('jobs that wait for themselves in a circle, and what no BullMQ writes, are left out', { timeout: LONG }, async (context) => {
  const { url, client, place, queue } = await bull(context)
  await queue('mail').add('bystander', 1)
  const parents = { a: 'a', b: 'c', c: 'b', d: 'e', e: 'f', f: 'd', g: 'b' }
  for (const [id, parent] of Object.entries(parents)) {
    await client.hset(`bull:mail:${id}`, { name: 'circle', data: '1', opts: '{}', timestamp: '1', parentKey: `bull:mail:${parent}` })
    await client.sadd(`bull:mail:${parent}:dependencies`, `bull:mail:${id}`)
    await client.zadd('bull:mail:waiting-children', 1, id)
  }
  for (const [index, opts] of ['{"attempts":2,"backoff":null,"de":null}', '{"attempts":"many"}', '7', '{'].entries()) {
    await client.hset(`bull:mail:odd${index}`, { name: 'odd', data: '1', opts, timestamp: '1' })
    await client.lpush('bull:mail:wait', `odd${index}`)
  }
  await client.hset("bull:$(touch it); it's:meta", { paused: '1' })
  const { code, json } = await place.run(...from(url, '--yes', '--json'))
  expect(code).toBe(1)
  expect(json).toMatchObject({
    jobs: 3,
    unfit: 9,
    plan: { settings: [{ command: `millrace queues pause '$(touch it); it'\\''s'` }] },
    errors: expect.arrayContaining([expect.objectContaining({ message: expect.stringContaining('waits for itself: bull:mail:') })]),
  })
})

test('schedulers become schedules, which have their next run; an existing schedule stays as it is', { timeout: LONG }, async (context) => {
  const { url, place, queue, client } = await bull(context)
  const reports = queue('reports')
  await reports.upsertJobScheduler(
    'nightly',
    { pattern: '0 30 3 * * *', tz: 'Europe/Berlin', limit: 4 },
    { name: 'report', data: { of: 1 }, opts: { attempts: 3, priority: 2 } },
  )
  await reports.upsertJobScheduler('beat', { every: 3_600_000 }, { name: 'ping' })
  await reports.upsertJobScheduler('odd id!', { pattern: '0 0 * * *' }, { name: 'odd' })
  await reports.upsertJobScheduler('quick', { every: 500 }, { name: 'quick' })
  const before = await contentOf(client)
  const first = await place.run(...from(url, '--yes', '--json'))
  expect(first).toMatchObject({ code: 1, json: { schedules: 3, unfit: 1, errors: [{ id: 'bull:reports:repeat:quick' }] } })
  const nightly = await place.okJson('schedules', 'show', 'reports:nightly')
  const next = new Date((await reports.getJobScheduler('nightly'))?.next ?? 0)
  expect(nightly).toMatchObject({
    ...{ cron: '0 30 3 * * *', timezone: 'Europe/Berlin', maxRuns: 4, nextRunAt: next.toISOString(), job: 'report', data: { of: 1 } },
    options: { queue: 'reports', maxAttempts: 3, priority: -2 },
  })
  const beat = await place.okJson('schedules', 'show', 'reports:beat')
  const due = (await reports.getJobScheduler('beat'))?.next ?? 0
  expect((Date.parse(beat['nextRunAt'] as string) - due) % 3_600_000).toBe(0)
  // The first run of `every` waits already, and is a job.
  expect(await place.okJson('jobs', 'list', '--name', 'ping')).toMatchObject({ jobs: [{ state: 'waiting', queue: 'reports' }] })

  await place.ok('schedules', 'update', 'reports:nightly', '--cron', '0 4 * * *')
  expect(await place.run(...from(url, '--yes', '--json'))).toMatchObject({ json: { jobs: 0, schedules: 0, unfit: 1 } })
  expect(await place.okJson('schedules', 'show', 'reports:nightly')).toMatchObject({ cron: '0 4 * * *' })
  const { schedules } = (await place.okJson('schedules', 'list')) as { schedules: { id: string }[] }
  expect(schedules.map(({ id }) => id)).toEqual([
    'reports:beat',
    'reports:nightly',
    expect.stringMatching(/^reports:odd-id--[0-9a-f]{12}$/),
  ])
  expect(await contentOf(client)).toBe(before)
})

test('active jobs stay, unless they are asked for; flags override', { timeout: LONG }, async (context) => {
  const { url, place, queue, hold } = await bull(context)
  await queue('work').addBulk([1, 2].map((data) => ({ name: 'step', data })))
  await queue('other').add('step', 3)
  await hold('work')
  const left = await place.okJson(...from(url, '--yes', '--only', 'work', '--name', 'renamed', '--queue', 'mine', '--timeout', '1m'))
  expect(left).toMatchObject({
    jobs: 1,
    plan: { rows: [{ state: 'waiting' }, { state: 'active', becomes: expect.stringContaining('include active jobs') }] },
  })
  expect(await place.okJson('jobs', 'list')).toMatchObject({ jobs: [{ name: 'renamed', queue: 'mine', data: 2, timeout: 60_000 }] })
  const taken = await place.okJson(...from(url, '--yes', '--only', 'work', '--name', 'renamed', '--include-active'))
  expect(taken).toMatchObject({ jobs: 1, existing: 1 })
})

test('killed half way, and changed meanwhile: the same command adds the rest, and none twice', { timeout: LONG }, async (context) => {
  const { url, place, queue } = await bull(context)
  const COUNT = 10_000
  const work = queue('work')
  for (let at = 0; at < COUNT; at += 2_000)
    await work.addBulk(Array.from({ length: 2_000 }, (_, index) => ({ name: 'step', data: at + index })))
  await place.serve()
  await place.ok('enqueue', 'bystander')
  const enqueued = async () => ((await place.okJson('stats'))['totals'] as { enqueued: number }).enqueued - 1
  const seen = (count: number) =>
    place.start('events', '-f', '--after', '0', '--name', 'step', '--limit', `${count}`, '--json').saidLines(count)

  const some = seen(1)
  const first = place.start(...from(url, '--yes'))
  await some
  await first.kill()
  const halfWay = await enqueued()
  expect(halfWay).toBeGreaterThanOrEqual(1)
  expect(halfWay).toBeLessThan(COUNT)

  const more = seen(halfWay + 1)
  const second = place.start(...from(url, '--yes'))
  await more
  await work.add('step', COUNT)
  expect(await second.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('has changed meanwhile') })

  expect(await place.run(...from(url, '--yes'))).toMatchObject({ code: 0 })
  expect(await enqueued()).toBe(COUNT + 1)
  expect(await place.okJson(...from(url, '--yes'))).toMatchObject({ jobs: 0, existing: COUNT + 1, changed: false })
  expect(await enqueued()).toBe(COUNT + 1)
})

test('wrong calls are refused, and nothing is created', { timeout: LONG }, async (context) => {
  const { url, place, queue, client } = await bull(context)
  await queue('work').add('step', 1)
  const wrong: readonly (readonly [code: number, message: string, args: readonly string[]])[] = [
    [2, 'Confirm with --yes', from(url)],
    [2, 'requires the URL of its store', ['import', '--from', 'bullmq']],
    [2, 'requires the URL of its store', from('postgres://localhost/app')],
    [2, '--plain is for lines', from(url, '--plain')],
    [2, '--idempotency-prefix is for lines', from(url, '--idempotency-prefix', 'x')],
    [2, '--rename must be', from(url, '--rename', 'x')],
    [2, '--rename requires --from', ['import', 'jobs.ndjson', '--rename', 'a=b']],
    [2, '--dry-run requires --from', ['import', 'jobs.ndjson', '--dry-run']],
    [2, 'requires a file', ['import']],
    [3, "no queue 'nope'", from(url, '--only', 'nope')],
    [3, "under the prefix 'other'", from(url, '--namespace', 'other')],
    [6, 'cannot connect to Redis at redis://127.0.0.1:1', from('redis://user:secret@127.0.0.1:1')],
  ]
  for (const [code, message, args] of wrong) {
    const ended = await place.run(...args)
    expect(ended, args.join(' ')).toMatchObject({ code, stderr: expect.stringContaining(message) })
    expect(ended.stderr).not.toContain('secret')
  }
  place.env['MILLRACE_IMPORT_URL'] = url
  expect(await place.ok('import', '--from', 'bullmq', '--dry-run')).toContain('work   waiting      1  waiting')
  expect(await place.run('jobs', 'list')).toMatchObject({ code: 3 })
  await client.set('bull:work:1:extra', 'a key of another kind')
  await client.lpush('bull:work:wait', 'gone')
  expect(await place.okJson('import', '--from', 'bullmq', '--yes')).toMatchObject({ jobs: 1, unfit: 0 })
})
