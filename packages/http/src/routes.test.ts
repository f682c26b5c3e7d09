import { parseId } from '@millrace/core'
import { defineJob, type Engine, LIMITS, openEngine } from '@millrace/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TOKEN, testApi } from './testing/api.ts'

let engine: Engine
let http: ReturnType<typeof testApi>
let stopped = 0
let ready = true
beforeAll(async () => {
  engine = await openEngine({ file: ':memory:' })
  http = testApi(engine, { token: TOKEN, control: { stop: () => stopped++ }, ready: () => ready })
  await engine.enqueue('bystander', 1, { queue: 'bystander', delay: '1h' })
})
afterAll(() => engine.stop())

test('M11: counts of schedules, the version and the uptime', async () => {
  const own = await openEngine({ file: ':memory:' })
  const api = testApi(own, { token: TOKEN, version: '1.2.3' })
  const none = await api.send('GET', '/v1/stats')
  expect(none.body).toMatchObject({ schedules: { enabled: 0, paused: 0, failing: 0, complete: true }, version: '1.2.3', uptimeMs: 0 })
  // More than a page.
  for (let index = 0; index < LIMITS.pageSchedules + 1; index++) await own.schedules.upsert(`s${index}`, { every: '1d' }, { job: 'tick' })
  await own.schedules.pause('s7')
  api.clock.advance(61_000)
  const { body } = await api.send('GET', '/v1/stats')
  expect(body).toMatchObject({ schedules: { enabled: LIMITS.pageSchedules, paused: 1, failing: 0, complete: true }, uptimeMs: 61_000 })
  const metrics = (await api.send('GET', '/metrics')).body as string
  expect(metrics).toContain(`millrace_schedules{state="enabled"} ${LIMITS.pageSchedules}\nmillrace_schedules{state="paused"} 1\n`)
  expect(metrics).toContain('millrace_build_info{version="1.2.3"} 1\n')
  expect((await http.send('GET', '/v1/stats')).body).not.toHaveProperty('version')
  await own.stop()
})

test('schedules whose last job failed are counted, those that are paused and those of jobs that were completed are not', async () => {
  const own = await openEngine({ file: ':memory:' })
  const api = testApi(own, { token: TOKEN })
  own.work([
    defineJob({ name: 'bad', maxAttempts: 1 }).handler(() => {
      throw new Error('no')
    }),
    defineJob({ name: 'good' }).handler(() => {}),
  ])
  for (const [id, job] of Object.entries({ failing: 'bad', paused: 'bad', well: 'good', fresh: 'good' }))
    await own.schedules.upsert(id, { every: '1d' }, { job })
  for (const id of ['failing', 'paused', 'well']) await (await own.schedules.trigger(id)).result().catch(() => {})
  await own.schedules.pause('paused')
  expect((await api.send('GET', '/v1/stats')).body).toMatchObject({ schedules: { enabled: 3, paused: 1, failing: 1, complete: true } })
  await own.stop()
})

test('the installation says what it is, and which parts of the API are on', async () => {
  const own = await openEngine({ file: ':memory:' })
  const job = await own.enqueue('a', 1)
  const instance = { name: 'Bücher <b>', colour: 'red' } as const
  const named = testApi(own, { open: true, version: '1.2.3', instance, control: { stop() {} } })
  named.clock.advance(5_000)
  const { body } = await named.send('GET', '/v1/info')
  const startedAt = new Date(1_800_000_001_000).toISOString()
  const now = new Date(1_800_000_006_000).toISOString()
  const on = { webhooks: false, control: true, tokens: false, tokenStore: false }
  expect(body).toEqual({ version: '1.2.3', node: parseId(job.id)?.node, instance, startedAt, now, on, samples: [] })
  await own.stop()
  const plain = (await http.send('GET', '/v1/info')).body
  expect(plain).toMatchObject({ instance: {}, on: { webhooks: false, control: true, tokens: true, tokenStore: false } })
  expect(plain).not.toHaveProperty('version')
  expect((await http.send('GET', '/v1/info?x=1')).status).toBe(400)
})

describe('queues', () => {
  test('M2: tell their keys with the most waiting jobs, and what is left of their rate', async () => {
    const settings = { perKeyLimit: 1, rateLimit: { limit: 10, period: '1d' } }
    expect((await http.send('PUT', '/v1/queues/keyed', { body: settings })).body.rate).toEqual({ tokens: 10 })
    for (const concurrencyKey of ['a', 'b', 'b']) await engine.enqueue('keyed', null, { queue: 'keyed', concurrencyKey })
    const keys = await http.send('GET', '/v1/queues/keyed/keys?limit=1')
    expect(keys).toMatchObject({
      status: 200,
      body: { keys: [{ key: 'b', waiting: 2, active: 0, paused: false }], known: 2, tracked: true },
    })
    expect((await http.send('GET', '/v1/queues/bystander/keys')).body).toEqual({ keys: [], known: 0, tracked: false })
    expect(await http.send('GET', '/v1/queues/none/keys')).toMatchObject({ status: 404, body: { code: 'QUEUE_NOT_FOUND', queue: 'none' } })
    for (const query of ['limit=0', 'limit=201', 'x=1']) expect((await http.send('GET', `/v1/queues/keyed/keys?${query}`)).status).toBe(400)
    await engine.queues.purge('keyed')
    await engine.queues.delete('keyed')
    const own = await openEngine({ file: ':memory:' })
    const api = testApi(own, { token: TOKEN })
    await own.queues.configure('keyed', { rateLimit: { limit: 10, period: '1d' } })
    const keyed = defineJob({ name: 'keyed', queue: 'keyed' })
    own.work(keyed.handler(() => {}))
    await (await own.enqueue(keyed)).result()
    const nextAt = expect.stringMatching(/^\d{4}-.*Z$/)
    expect((await api.send('GET', '/v1/queues/keyed')).body.rate).toEqual({ tokens: 9, nextAt })
    expect((await api.send('GET', '/v1/queues')).body.queues).toMatchObject([{ rate: { tokens: 9, nextAt } }])
    await own.stop()
  })

  test('M11: are configured, shown, paused, resumed', async () => {
    const settings = {
      concurrencyLimit: 2,
      rateLimit: { limit: 10, period: '1m' },
      retention: { completed: '1d', failed: { count: 5 } },
      defaults: { timeout: null, priority: 3 },
    }
    const put = await http.send('PUT', '/v1/queues/media', { body: settings })
    expect(put).toMatchObject({
      status: 200,
      body: {
        name: 'media',
        settings: { concurrencyLimit: 2, rateLimit: { limit: 10, period: 60_000, burst: 10 }, defaults: { timeout: null, priority: 3 } },
      },
    })
    expect((await http.send('PUT', '/v1/queues/media', { body: { concurrencyLimit: null } })).body.settings).not.toHaveProperty(
      'concurrencyLimit',
    )
    expect((await http.send('POST', '/v1/queues/media/pause')).status).toBe(204)
    expect((await http.send('POST', '/v1/queues/media/pause', { body: { job: 'resize' } })).status).toBe(204)
    expect((await http.send('GET', '/v1/queues/media')).body).toMatchObject({ paused: true, pausedJobs: ['resize'] })
    expect((await http.send('POST', '/v1/queues/media/resume')).status).toBe(204)
    expect(
      (await http.send('GET', '/v1/queues')).body.queues.map(({ name, paused }: { name: string; paused: boolean }) => [name, paused]),
    ).toEqual([
      ['bystander', false],
      ['media', false],
    ])
    expect(await http.send('POST', '/v1/queues/media/pause', { body: { job: 'a', key: 'b' } })).toMatchObject({
      status: 400,
      body: { code: 'OPTION_TYPE' },
    })
    const told = {
      fairness: 'name',
      repeats: 'event',
      retention: { completed: 'forever', failed: { age: 'forever', count: 5 } },
      defaults: { ttl: '30d', keep: 'forever' },
    }
    expect(await http.send('PUT', '/v1/queues/kept', { body: told })).toMatchObject({
      status: 200,
      body: {
        settings: {
          fairness: 'name',
          repeats: 'event',
          retention: {
            completed: { ageMs: LIMITS.durationMs, count: 1_000_000_000_000 },
            failed: { ageMs: LIMITS.durationMs, count: 5 },
          },
          defaults: { ttl: 30 * 86_400_000, keep: LIMITS.durationMs },
        },
      },
    })
    const kept = async (options: object) => {
      const { body } = await http.send('POST', '/v1/jobs', { body: { job: 'a', options: { queue: 'kept', ...options } } })
      return (await http.send('GET', `/v1/jobs/${body.id}`)).body.keep
    }
    expect([await kept({}), await kept({ keep: '1h' }), await kept({ keep: 0 })]).toEqual([LIMITS.durationMs, 3_600_000, 0])
    expect(await http.send('POST', '/v1/jobs', { body: { job: 'a', options: { keep: 'for ever' } } })).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/options.keep must be a duration .* or 'forever', got "for ever"/) },
    })
    // A queue that is there is changed: nothing refuses it, and what is left out stays.
    expect(await http.send('PUT', '/v1/queues/kept', { body: { share: 2, fairness: 'none', repeats: 'silent' } })).toMatchObject({
      status: 200,
      body: { settings: { share: 2, defaults: { ttl: 30 * 86_400_000 } } },
    })
    expect((await http.send('GET', '/v1/queues/kept')).body.settings).not.toHaveProperty('fairness')
    expect((await http.send('GET', '/v1/queues/kept')).body.settings).not.toHaveProperty('repeats')
    expect(await http.send('PUT', '/v1/queues/media', { body: { limit: 1 } })).toMatchObject({
      status: 400,
      body: { option: 'body.limit' },
    })
    expect(await http.send('GET', '/v1/queues/none')).toMatchObject({ status: 404, body: { code: 'QUEUE_NOT_FOUND', queue: 'none' } })
    expect(await http.send('POST', '/v1/queues/none/pause')).toMatchObject({
      status: 404,
      body: { code: 'QUEUE_NOT_FOUND', queue: 'none' },
    })
    expect(await http.send('POST', '/v1/queues/none/drain')).toMatchObject({
      status: 404,
      body: { code: 'QUEUE_NOT_FOUND', queue: 'none' },
    })
    expect(await http.send('PUT', '/v1/queues/none', { body: { onFull: 'drop-oldest' } })).toMatchObject({
      status: 400,
      body: { code: 'UNSUPPORTED', option: 'onFull' },
    })
    expect(await http.send('PUT', '/v1/queues/none', { body: { deadLetter: 'none' } })).toMatchObject({
      status: 400,
      body: { code: 'UNSUPPORTED', option: 'deadLetter' },
    })
    expect((await http.send('GET', '/v1/queues/none')).status).toBe(404)
    expect((await http.send('GET', '/v1/queues/a%20b')).status).toBe(400)
  })

  test('are drained, purged only where that is said, and forgotten when empty', async () => {
    await http.send('POST', '/v1/jobs:bulk', { body: Array.from({ length: 3 }, () => ({ job: 'a', options: { queue: 'old' } })) })
    expect(await http.send('POST', '/v1/queues/old/drain')).toMatchObject({ status: 202, body: { drained: false } })
    const refused = await http.send('POST', '/v1/jobs', { body: { job: 'a', options: { queue: 'old' } } })
    expect(refused).toMatchObject({ status: 503, body: { code: 'QUEUE_DRAINING', retryable: true, queue: 'old' } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await http.send('DELETE', '/v1/queues/old')).toMatchObject({ status: 409, body: { code: 'QUEUE_NOT_EMPTY', jobs: 3 } })
    expect((await http.send('POST', '/v1/queues/old/purge')).body).toMatchObject({ dryRun: true, count: 3 })
    expect((await engine.stats()).queues['old']?.waiting).toBe(3)
    expect((await http.send('POST', '/v1/queues/old/purge', { body: { dryRun: false, states: ['waiting'] } })).body).toMatchObject({
      dryRun: false,
      count: 3,
      states: { waiting: 3 },
    })
    expect(await http.send('POST', '/v1/queues/old/drain', { body: { waitMs: 1_000 } })).toMatchObject({
      status: 200,
      body: { drained: true },
    })
    expect((await http.send('DELETE', '/v1/queues/old')).status).toBe(204)
    expect((await http.send('DELETE', '/v1/queues/old')).status).toBe(404)
    expect((await engine.stats()).queues['bystander']?.scheduled).toBe(1)
  })
})

test('M11: schedules', async () => {
  const body = {
    cron: '0 3 * * *',
    timezone: 'Europe/Berlin',
    job: 'nightly',
    data: { all: true },
    options: { queue: 'media', tags: ['n'] },
    startAt: '2030-01-01T00:00:00Z',
  }
  const put = await http.send('PUT', '/v1/schedules/nightly', { body })
  expect(put).toMatchObject({ status: 201, body: { id: 'nightly', created: true, nextRunAt: '2030-01-01T02:00:00.000Z' } })
  expect(put.headers.get('location')).toBe('/v1/schedules/nightly')
  expect((await http.send('PUT', '/v1/schedules/nightly', { body })).status).toBe(200)
  expect((await http.send('GET', '/v1/schedules/nightly?times=2')).body).toMatchObject({
    cron: '0 3 * * *',
    job: 'nightly',
    data: { all: true },
    paused: false,
    nextRuns: ['2030-01-01T02:00:00.000Z', '2030-01-02T02:00:00.000Z'],
  })
  for (const id of ['a1', 'a2', 'a3']) await http.send('PUT', `/v1/schedules/${id}`, { body: { every: '1h', job: 'x' } })
  const first = (await http.send('GET', '/v1/schedules?prefix=a&limit=2')).body
  expect(first.schedules.map(({ id }: { id: string }) => id)).toEqual(['a1', 'a2'])
  const second = (await http.send('GET', `/v1/schedules?prefix=a&after=${encodeURIComponent(first.next)}`)).body
  expect(second).toMatchObject({ schedules: [{ id: 'a3' }] })
  expect((await http.send('GET', '/v1/schedules?name=nightly&queue=media')).body.schedules).toMatchObject([{ id: 'nightly' }])
  expect((await http.send('GET', '/v1/schedules?queue=other')).body.schedules).toEqual([])
  expect((await http.send('GET', `/v1/jobs?after=${encodeURIComponent(first.next)}`)).status).toBe(400)
  expect((await http.send('POST', '/v1/schedules/a1/pause')).status).toBe(204)
  expect((await http.send('GET', '/v1/schedules/a1')).body.paused).toBe(true)
  expect((await http.send('POST', '/v1/schedules/a1/resume')).status).toBe(204)
  const triggered = await http.send('POST', '/v1/schedules/a1/trigger')
  expect(triggered).toMatchObject({ status: 201, body: { created: true } })
  expect(await http.send('POST', '/v1/schedules/a1/trigger')).toMatchObject({
    status: 200,
    body: { id: triggered.body.id, created: false },
  })
  const waiting = { every: '1h', job: 'x', data: 2, updateWaiting: true }
  expect((await http.send('PUT', '/v1/schedules/a1', { body: waiting })).body).toMatchObject({ created: false, waitingUpdated: 1 })
  expect((await http.send('GET', `/v1/jobs/${triggered.body.id}`)).body.data).toBe(2)
  await http.send('PUT', '/v1/schedules/a2', { body: { every: '1h', job: 'x', options: { meta: { team: 'ops', by: 'tick' } } } })
  const withMeta = await http.send('POST', '/v1/schedules/a2/trigger', { body: { meta: { by: 'hand' } } })
  expect(withMeta).toMatchObject({ status: 201, body: { created: true } })
  expect((await http.send('GET', `/v1/jobs/${withMeta.body.id}`)).body.meta).toMatchObject({
    team: 'ops',
    by: 'hand',
    schedule: { id: 'a2' },
  })
  expect(Object.keys((await http.send('GET', `/v1/jobs/${triggered.body.id}`)).body.meta)).toEqual(['schedule'])
  expect((await http.send('GET', '/v1/schedules/a2')).body.options.meta).toEqual({ team: 'ops', by: 'tick' })
  for (const [body, code, path] of [
    [{ meta: 'text' }, 'VALIDATION', 'body.meta'],
    [{ meta: [1] }, 'VALIDATION', 'body.meta'],
    [{ meta: null }, 'VALIDATION', 'body.meta'],
    [{ data: 1 }, 'VALIDATION', 'body.data'],
    [{ meta: { a: 'x'.repeat(20_000) } }, 'OPTION_RANGE', undefined],
  ] as const) {
    const refused = await http.send('POST', '/v1/schedules/a3/trigger', { body })
    expect(refused, code).toMatchObject({ status: 400, body: { code } })
    expect(refused.body.errors?.[0]?.path).toBe(path)
  }
  expect((await http.send('GET', '/v1/schedules/a3')).body).toMatchObject({ runs: 0 })
  const added = await http.send('POST', '/v1/schedules', {
    body: { id: 'new', every: '1h', job: 'x', paused: true, endAt: '2040-01-01T00:00:00Z' },
  })
  expect(added).toMatchObject({ status: 201, body: { id: 'new', created: true } })
  expect(added.headers.get('location')).toBe('/v1/schedules/new')
  expect(await http.send('POST', '/v1/schedules', { body: { id: 'new', every: '2h', job: 'x' } })).toMatchObject({
    status: 409,
    body: { code: 'SCHEDULE_EXISTS', scheduleId: 'new' },
  })
  expect(await http.send('PATCH', '/v1/schedules/new', { body: { paused: false, data: 7, endAt: null } })).toMatchObject({
    status: 200,
    body: { id: 'new', created: false, nextRunAt: expect.any(String) },
  })
  const changed = (await http.send('GET', '/v1/schedules/new')).body
  expect(changed).toMatchObject({ every: 3_600_000, job: 'x', data: 7, paused: false })
  expect(changed).not.toHaveProperty('endAt')
  expect(await http.send('PATCH', '/v1/schedules/none', { body: { paused: true } })).toMatchObject({
    status: 404,
    body: { code: 'SCHEDULE_NOT_FOUND' },
  })
  expect((await http.send('PATCH', '/v1/schedules/new', { body: { enabled: false } })).status).toBe(400)
  expect((await http.send('DELETE', '/v1/schedules/a1')).status).toBe(204)
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/trigger'],
  ] as const)
    expect(await http.send(method, `/v1/schedules/a1${path}`), path).toMatchObject({
      status: 404,
      body: { code: 'SCHEDULE_NOT_FOUND', scheduleId: 'a1' },
    })
  for (const wrong of [
    { job: 'x' },
    { job: 'x', cron: 'nope' },
    { job: 'x', every: '1ms' },
    { job: 'x', every: '1h', cron: '@daily' },
    { job: 'x', every: '1h', options: { delay: 1 } },
  ])
    expect((await http.send('PUT', '/v1/schedules/wrong', { body: wrong })).status, JSON.stringify(wrong)).toBe(400)
})

describe('what the engine tells of itself', () => {
  test('T6: stats, workers, history, failures, metrics', async () => {
    const failing = defineJob({ name: 'failing', queue: 'strange"\\q'.replace(/[^a-z]/g, '.'), maxAttempts: 1 })
    const worker = engine.work(
      failing.handler(() => {
        throw new TypeError('no 17')
      }),
      { concurrency: 2 },
    )
    const { id } = await engine.enqueue(failing, undefined)
    for await (const event of engine.events({ filter: { jobId: id } })) if (event.type === 'failed') break

    expect((await http.send('GET', '/v1/workers')).body.workers).toMatchObject([
      {
        names: ['failing'],
        maxConcurrency: 2,
        attachedAt: expect.stringMatching(/Z$/),
        lastSeenAt: expect.stringMatching(/Z$/),
        kind: 'inline',
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        rssBytes: expect.any(Number),
      },
    ])
    expect(await http.send('POST', '/v1/workers/nobody/stop')).toMatchObject({
      status: 404,
      body: { code: 'WORKER_NOT_FOUND', workerId: 'nobody' },
    })
    expect((await http.send('POST', '/v1/workers/nobody/stop', { body: { timeout: 'soon' } })).status).toBe(400)
    expect((await http.send('GET', '/v1/stats')).body).toMatchObject({ states: { failed: 1 }, workers: 1, writer: { draining: false } })
    expect((await http.send('GET', '/v1/failures?order=count&name=failing')).body.failures).toHaveLength(1)
    const trend = [...new Array(23).fill(0), 1]
    expect((await http.send('GET', '/v1/failures?trend=hour')).body.failures).toMatchObject([{ name: 'failing', trend }])
    expect((await http.send('GET', '/v1/failures?name=failing')).body.failures).toMatchObject([
      { error: 'TypeError', count: 1, jobId: id, message: 'no 17' },
    ])
    const { points } = (
      await http.send('GET', `/v1/history?queue=${failing.defaults?.queue ?? 'strange..q'}&step=hour&from=2020-01-01T00:00:00Z`)
    ).body
    expect(points.reduce((sum: number, { failed }: { failed: number }) => sum + failed, 0)).toBe(1)
    const all = (await http.send('GET', '/v1/history?queues=*&limit=1&step=hour')).body
    expect(all).toMatchObject({ from: expect.stringMatching(/:00:00.000Z$/), step: 'hour' })
    expect(Object.keys(all.queues)).toHaveLength(1)
    expect(all.total.failed.reduce((sum: number, count: number) => sum + count, 0)).toBe(1)
    for (const query of ['queues=*&queue=a', 'queues=a', 'limit=1', 'queues=*&limit=51', 'queues=*&limit=-1'])
      expect((await http.send('GET', `/v1/history?${query}`)).status, query).toBe(400)
    const whole = (await http.send('GET', '/v1/stats')).body
    expect(whole.store).toMatchObject({ bytes: expect.any(Number), walBytes: 0, oldestEventAt: expect.any(Number) })
    const brief = (await http.send('GET', '/v1/stats?names=percentiles&definitions=disputed')).body
    expect(whole.names[0].runMs).toMatchObject({ sum: expect.any(Number), buckets: expect.any(Array) })
    expect(brief.names[0].runMs).toEqual({ p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) })
    expect([whole.definitions.length, brief.definitions.length]).toEqual([1, 0])
    expect((await http.send('GET', '/v1/stats?names=none')).body).toMatchObject({ names: [], definitions: [{ name: 'failing' }] })
    for (const query of ['names=all', 'names=', 'definitions=none']) expect((await http.send('GET', `/v1/stats?${query}`)).status).toBe(400)
    for (const query of [
      'history?step=day',
      'history?from=yesterday',
      'failures?limit=0',
      'failures?order=size',
      'failures?trend=minute',
      'failures?queue=a+b',
      'stats?nope=1',
    ])
      expect((await http.send('GET', `/v1/${query}`)).status, query).toBe(400)
    const told = await http.send('POST', `/v1/workers/${worker.id}/stop`, { body: { timeout: null } })
    expect(told).toMatchObject({ status: 202 })
    expect(told.body.workers.every(({ draining }: { draining: boolean }) => draining)).toBe(true)
    await worker.stopped

    const metrics = await http.send('GET', '/metrics')
    expect(metrics.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    expect(metrics.body).toContain('millrace_jobs{queue="strange..q",state="failed"} 1')
    expect(metrics.body).toContain('millrace_runs_failed_total{queue="strange..q",name="failing"} 1')
  })
})

test('N8: the engine is paused, resumed and stopped', async () => {
  await engine.queues.pause('bystander')
  expect((await http.send('POST', '/v1/engine/pause')).body).toEqual({ paused: true })
  expect((await http.send('GET', '/v1/stats')).body.paused).toBe(true)
  expect((await http.send('GET', '/metrics')).body).toContain('millrace_paused 1\n')
  expect((await http.send('POST', '/v1/engine/resume')).body).toEqual({ paused: false })
  expect((await engine.stats()).paused).toBe(false)
  expect((await http.send('GET', '/metrics')).body).toContain('millrace_paused 0\n')
  expect((await engine.queues.get('bystander'))?.paused).toBe(true)
  expect(await http.send('POST', '/v1/engine/stop')).toMatchObject({ status: 202, body: { stopping: true } })
  expect(stopped).toBe(1)
  expect(await testApi(engine).send('POST', '/v1/engine/stop')).toMatchObject({ status: 501, body: { code: 'UNSUPPORTED' } })
})

test('T6: health, and readiness', async () => {
  expect((await http.send('GET', '/healthz', { token: 'none' })).body).toEqual({ status: 'ok' })
  expect(await http.send('GET', '/readyz', { token: 'none' })).toMatchObject({ status: 200, body: { status: 'ready' } })
  ready = false
  expect(await http.send('GET', '/readyz')).toMatchObject({ status: 503, body: { reason: 'it is starting, or stopping' } })
  ready = true
  const { stats } = engine
  engine.stats = () => new Promise<never>(() => {})
  const slow = http.send('GET', '/readyz')
  while (http.clock.timers === 0) await new Promise((resolve) => setImmediate(resolve))
  http.clock.advance(5_000)
  expect(await slow).toMatchObject({ status: 503, body: { reason: 'the engine does not answer' } })
  engine.stats = async () => ({ ...(await stats.call(engine)), writer: { ...(await stats.call(engine)).writer, draining: true } })
  expect(await http.send('GET', '/readyz')).toMatchObject({ status: 503 })
  engine.stats = stats
  expect(http.clock.timers).toBe(0)
  const other = await openEngine({ file: ':memory:' })
  await other.stop()
  expect(await testApi(other).send('GET', '/readyz')).toMatchObject({ status: 503, body: { reason: 'the engine does not serve' } })
})

test('the document is served, and a page of it without scripts', async () => {
  const { body } = await http.send('GET', '/openapi.json', { token: 'none' })
  expect(body).toEqual(JSON.parse(JSON.stringify(http.api.document())))
  expect((await http.send('GET', '/', { token: 'none' })).body).toContain('<a href="/docs">')
  const page = await http.send('GET', '/docs', { token: 'none' })
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+';/)
  expect(page.body).not.toMatch(/<script|javascript:|\son\w+=|style="/)
  for (const { id, path } of http.operations) {
    expect(page.body).toContain(`id="${id}"`)
    expect(page.body).toContain(`<code>${path}</code>`)
  }
  for (const [, name] of page.body.matchAll(/href="#([^"]+)"/g)) expect(page.body).toContain(`id="${name}"`)
})

test('every operation of these was called, with every answer that is no error', () => {
  const elsewhere =
    /^(?:events|importJobs|logIn|logOut|getSession|enqueue\w*|\w+Flows?|\w+Jobs?|\w+JobByKey|releaseKey|getJob\w+|sendMessage\w*)$/
  const missing = http.operations
    .filter(({ id }) => !elsewhere.test(id))
    .flatMap(({ id, responses }) => Object.keys(responses).map((status) => `${id} ${status}`))
    .filter((call) => !http.seen.has(call))
  expect(missing).toEqual([])
})
