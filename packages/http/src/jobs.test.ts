import { defineJob, type Engine, type EventType, openEngine, uniqueKeyOf } from '@millrace/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApi } from './testing/api.ts'

let engine: Engine
let http: ReturnType<typeof testApi>

beforeAll(async () => {
  engine = await openEngine({ file: ':memory:' })
  http = testApi(engine)
})
afterAll(() => engine.stop())

const create = async (body: object, headers = {}) => (await http.send('POST', '/v1/jobs', { body, headers })).body.id as string

describe('one job', () => {
  test('M11: is created, and shown', async () => {
    const created = await http.send('POST', '/v1/jobs', {
      body: { job: 'resize', data: { path: 'a.png' }, options: { delay: '5m', tags: ['x'], queue: 'media' } },
    })
    expect(created.status).toBe(201)
    expect(created.body).toEqual({ id: expect.any(String), created: true })
    expect(created.headers.get('location')).toBe(`/v1/jobs/${created.body.id}`)
    const { status, body } = await http.send('GET', `/v1/jobs/${created.body.id}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'resize', queue: 'media', state: 'scheduled', data: { path: 'a.png' }, tags: ['x'], attempts: [] })
    expect(new Date(body.runAt).getTime() - new Date(body.enqueuedAt).getTime()).toBe(300_000)
  })

  test('with runAt, without a limit of time, and with whatever JSON as data', async () => {
    const id = await create({ job: 'any', data: ['\u{1F600}', null, 1.5], options: { runAt: '2030-01-02T03:04:05+01:00', timeout: null } })
    expect((await http.send('GET', `/v1/jobs/${id}`)).body).toMatchObject({
      runAt: '2030-01-02T02:04:05.000Z',
      timeout: null,
      data: ['\u{1F600}', null, 1.5],
    })
  })

  test('M5: an idempotency key, by header or by option, is answered with the first job', async () => {
    const first = await http.send('POST', '/v1/jobs', { body: { job: 'pay', data: 1 }, headers: { 'idempotency-key': 'order 1' } })
    expect(first.status).toBe(201)
    const second = await http.send('POST', '/v1/jobs', { body: { job: 'pay', data: 2, options: { idempotencyKey: 'order 1' } } })
    expect(second.status).toBe(200)
    expect(second.body).toMatchObject({ id: first.body.id, created: false, job: { data: 1, idempotencyKey: 'order 1' } })
    const both = await http.send('POST', '/v1/jobs', {
      body: { job: 'pay', options: { idempotencyKey: 'a' } },
      headers: { 'idempotency-key': 'b' },
    })
    expect(both).toMatchObject({ status: 400, body: { code: 'VALIDATION' } })
  })

  test('M5: of two posts with one key at the same time, one creates', async () => {
    const posts = Array.from({ length: 20 }, () =>
      http.send('POST', '/v1/jobs', { body: { job: 'race' }, headers: { 'idempotency-key': 'race' } }),
    )
    const answers = await Promise.all(posts)
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array.from({ length: 19 }, () => 200), 201])
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  })

  test('a unique key that is held answers 409, and names the job', async () => {
    const unique = { unique: { key: 'u', onConflict: 'error' } }
    const id = await create({ job: 'one', options: unique })
    expect(await http.send('POST', '/v1/jobs', { body: { job: 'one', options: unique } })).toMatchObject({
      status: 409,
      body: { code: 'UNIQUE_CONFLICT', jobId: id, retryable: false, type: 'urn:millrace:problem:unique-conflict' },
    })
  })

  test('a unique key is made of the data, or of its fields', async () => {
    const options = { unique: { by: ['of.id'], onConflict: 'error' }, delay: '1h' }
    const id = await create({ job: 'by', data: { of: { id: 1, n: 1 } }, options })
    expect(await http.send('POST', '/v1/jobs', { body: { job: 'by', data: { of: { n: 2, id: 1 } }, options } })).toMatchObject({
      status: 409,
      body: { code: 'UNIQUE_CONFLICT', jobId: id },
    })
    expect((await http.send('GET', `/v1/jobs/${id}`)).body).toMatchObject({ uniqueKey: uniqueKeyOf({ 'of.id': 1 }) })
    for (const unique of [{ by: [] }, { by: 'of' }, { by: 'data', key: 'k' }, {}, { by: ['of.nr'] }]) {
      const body = { job: 'by', data: { of: { id: 1 } }, options: { unique } }
      expect(await http.send('POST', '/v1/jobs', { body })).toMatchObject({ status: 400 })
    }
  })

  test('is changed, made due, cancelled, retried and removed; another one stays as it is', async () => {
    const bystander = await create({ job: 'bystander', options: { delay: '1h' } })
    const before = (await http.send('GET', `/v1/jobs/${bystander}`)).body
    const id = await create({ job: 'life', data: 1, options: { delay: '1h' } })
    const path = `/v1/jobs/${id}`
    const state = async () => (await http.send('GET', path)).body.state

    expect(await http.send('PATCH', path, { body: { data: 2, priority: 7, timeout: null, runAt: '2031-01-01T00:00:00Z' } })).toMatchObject({
      status: 204,
    })
    expect((await http.send('GET', path)).body).toMatchObject({ data: 2, priority: 7, timeout: null, runAt: '2031-01-01T00:00:00.000Z' })
    expect(await http.send('POST', `${path}/retry`)).toMatchObject({ status: 409, body: { code: 'JOB_SCHEDULED', jobId: id } })
    expect(await state()).toBe('scheduled')
    const copy = await http.send('POST', `${path}/enqueue`)
    expect(copy).toMatchObject({ status: 201, body: { created: true } })
    expect((await http.send('GET', `/v1/jobs/${copy.body.id}`)).body).toMatchObject({
      state: 'waiting',
      data: 2,
      priority: 7,
      timeout: null,
      meta: { copyOf: id },
    })
    expect(await http.send('DELETE', `/v1/jobs/${copy.body.id}`)).toMatchObject({ status: 204 })
    expect((await http.send('POST', `${path}/run`)).status).toBe(204)
    expect(await state()).toBe('waiting')
    expect(await http.send('POST', `${path}/cancel`)).toMatchObject({ status: 200, body: { outcome: 'cancelled' } })
    expect(await state()).toBe('cancelled')
    expect(await http.send('POST', `${path}/cancel`)).toMatchObject({ status: 409, body: { code: 'JOB_FINISHED' } })
    expect(await http.send('POST', `${path}/cancel`, { body: { descendants: true } })).toMatchObject({
      status: 200,
      body: { outcome: 'finished' },
    })
    expect((await http.send('POST', `${path}/retry`, { body: {} })).status).toBe(204)
    expect(await state()).toBe('waiting')
    expect((await http.send('DELETE', path)).status).toBe(204)
    expect(await http.send('GET', path)).toMatchObject({ status: 404, body: { code: 'JOB_NOT_FOUND', jobId: id } })
    expect((await http.send('DELETE', path)).status).toBe(404)
    expect((await http.send('GET', `/v1/jobs/${bystander}`)).body).toEqual(before)
  })

  test('what is no id is no job', async () => {
    for (const [method, path] of [
      ['GET', '/v1/jobs/nonsense'],
      ['POST', '/v1/jobs/nonsense/run'],
      ['DELETE', '/v1/jobs/1'],
      ['POST', '/v1/jobs/%00/retry'],
    ] as const)
      expect((await http.send(method, path)).status, path).toBe(404)
  })

  test('a run is shown with its attempts, errors and logs; bytes as base64', async () => {
    const id = await create({ job: 'bytes', data: 1, options: { maxAttempts: 2, backoff: { type: 'fixed', delay: 0 } } })
    const job = defineJob<number>({ name: 'bytes' })
    const worker = engine.work(
      job.handler(({ job: { attempt }, log }) => {
        log('info', 'trying', { attempt })
        if (attempt === 1) {
          const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
          throw Object.assign(new TypeError('not yet', { cause }), { code: 502 })
        }
        return new Uint8Array([1, 2, 255])
      }),
    )
    for await (const event of engine.events({ filter: { jobId: id, types: ['completed'] } })) if (event.type === 'completed') break
    await worker.stop()
    const { body } = await http.send('GET', `/v1/jobs/${id}`)
    const cause = [{ name: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' }]
    const error = { name: 'TypeError', message: 'not yet', code: '502', cause }
    expect(body).toMatchObject({
      state: 'completed',
      output: 'AQL/',
      binary: ['output'],
      attempts: [{ error }, { logs: [{ level: 'info', fields: { attempt: 2 } }] }],
    })
  })

  test('a job that runs shows its deadline, and one that is tried again when it was first due', async () => {
    const id = await create({ job: 'timed', data: 1, options: { timeout: '10m' } })
    const job = defineJob<number>({ name: 'timed' })
    let fail = () => {}
    const failed = new Promise<void>((_, reject) => {
      fail = () => reject(new Error('no'))
    })
    const worker = engine.work(job.handler(() => failed))
    for await (const event of engine.events({ filter: { jobId: id, types: ['started'] } })) if (event.type === 'started') break
    const get = async (path = '') => (await http.send('GET', `/v1/jobs/${id}${path}`)).body
    const { startedAt, deadlineAt, runAt } = await get()
    expect(Date.parse(deadlineAt) - Date.parse(startedAt)).toBeGreaterThan(599_000)
    expect(await get('/explain')).toMatchObject({ deadlineAt: expect.stringMatching(/Z$/) })
    const { workers } = (await http.send('GET', '/v1/workers')).body
    expect(workers).toContainEqual(expect.objectContaining({ names: ['timed'], nextDeadlineAt: expect.stringMatching(/Z$/) }))
    fail()
    for await (const event of engine.events({ filter: { jobId: id, types: ['retrying'] } })) if (event.type === 'retrying') break
    await worker.stop()
    const retried = await get()
    expect(retried).toMatchObject({ state: 'scheduled', originalRunAt: runAt })
    expect(retried).not.toHaveProperty('deadlineAt')
  })

  test('a job that waits is explained', async () => {
    const id = await create({ job: 'explained', data: 1, options: { queue: 'held' } })
    await engine.queues.pause('held', { for: '1h' })
    const { status, body } = await http.send('GET', `/v1/jobs/${id}/explain`)
    const { pausedUntil } = (await engine.queues.get('held')) ?? {}
    const paused = `waits, because queue 'held' is paused until ${pausedUntil?.toISOString()}`
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        ...{ id, name: 'explained', queue: 'held', state: 'waiting', attempt: 0, maxAttempts: 4, message: paused },
        causes: [
          { code: 'queue-paused', message: paused, until: pausedUntil?.toISOString() },
          { code: 'no-worker', message: "waits, because no worker serves 'explained' in queue 'held'" },
        ],
      },
    })
    expect(await http.send('GET', '/v1/jobs/no-id/explain')).toMatchObject({ status: 404, body: { code: 'JOB_NOT_FOUND' } })
  })

  test('the log lines of a run come page by page, beyond those that a job shows', async () => {
    const job = defineJob<number>({ name: 'logs', logLines: 150 })
    const id = await create({ job: 'logs', data: 1, options: { logLines: 150 } })
    const bystander = await create({ job: 'bystander', data: 1 })
    const worker = engine.work(
      job.handler(({ log }) => {
        for (let line = 0; line < 160; line++) log('info', `line ${line}`, { line })
      }),
    )
    for await (const event of engine.events({ filter: { jobId: id, types: ['completed'] } })) if (event.type === 'completed') break
    await worker.stop()
    const page = async (query = '') => (await http.send('GET', `/v1/jobs/${id}/logs${query}`)).body
    const numbers = ({ lines }: { lines: { number: number }[] }) => lines.map(({ number }) => number)
    const first = await page('?limit=2')
    expect(first).toEqual({
      run: 1,
      lines: [10, 11].map((line) => ({
        number: line - 10,
        at: expect.any(String),
        level: 'info',
        message: `line ${line}`,
        fields: { line },
      })),
      next: 1,
    })
    expect(numbers(await page('?limit=2&after=1'))).toEqual([2, 3])
    const newest = await page('?order=newest&limit=2&run=1')
    expect([numbers(newest), newest.next]).toEqual([[149, 148], 148])
    const whole = await page('?limit=1000')
    expect([whole.lines.length, whole]).toEqual([150, expect.not.objectContaining({ next: expect.anything() })])
    expect((await http.send('GET', `/v1/jobs/${id}`)).body.attempts[0].logs).toHaveLength(100)
    expect((await http.send('GET', `/v1/jobs/${bystander}/logs`)).body).toEqual({ run: 0, lines: [] })
    for (const query of ['?limit=0', '?limit=1001', '?order=any', '?run=0', '?after=-1'])
      expect((await http.send('GET', `/v1/jobs/${id}/logs${query}`)).status, query).toBe(400)
    expect(await http.send('GET', '/v1/jobs/no-id/logs')).toMatchObject({ status: 404, body: { code: 'JOB_NOT_FOUND' } })
  })
})

describe('durable calls', () => {
  test('what they have recorded comes page by page, with the open waits; a retry says where it resumes', async () => {
    const job = defineJob<number>({ name: 'durable', maxAttempts: 1 })
    const id = await create({ job: 'durable', data: 1, options: { maxAttempts: 1 } })
    const bystander = await create({ job: 'bystander', data: 1 })
    let calls = 0
    const worker = engine.work(
      job.handler(async ({ step, sleep }) => {
        await step('bytes', () => new Uint8Array([1, 2]))
        await step('object', () => ({ call: ++calls }))
        await sleep('night', '1d')
        await step('fails', () => Promise.reject(new RangeError('no')))
      }),
    )
    const until = async (type: EventType, after = 0) => {
      for await (const event of engine.events({ after, filter: { jobId: id, types: [type] } })) if (event.type === type) return event.seq
      throw new Error('the stream ends')
    }
    await until('snoozed')
    const steps = async (query = '') => (await http.send('GET', `/v1/jobs/${id}/steps${query}`)).body
    const time = expect.stringMatching(/Z$/)
    const base = { run: 1, startedAt: time, endedAt: time }
    const bytes = { number: 1, name: 'bytes', kind: 'step', value: 'AQI=', binary: true, ...base }
    const object = { number: 2, name: 'object', kind: 'step', value: { call: 1 }, ...base }
    const waits = [{ name: 'night', since: time, until: time }]
    const rest = { waits, messages: [], kept: 0 }
    expect(await steps()).toEqual({ steps: [bytes, object], ...rest })
    expect(await steps('?limit=1')).toEqual({ steps: [bytes], ...rest, next: 1 })
    expect(await steps('?limit=1&after=1')).toEqual({ steps: [object], ...rest })
    await http.send('POST', `/v1/jobs/${id}/run`)
    const failed = await until('failed')
    expect(await steps('?after=2')).toMatchObject({
      steps: [
        { name: 'night', kind: 'sleep', run: 1 },
        { name: 'fails', run: 2, error: { name: 'RangeError', message: 'no' } },
      ],
      waits: [],
    })
    const retry = (path: string, body: object) => http.send('POST', `/v1/${path}/retry`, { body })
    expect(await retry(`jobs/${id}`, { from: 'nowhere' })).toMatchObject({ status: 404, body: { code: 'STEP_NOT_FOUND' } })
    expect(await retry(`jobs/${id}`, { from: 'object', descendants: true })).toMatchObject({ status: 400, body: { option: 'from' } })
    expect(await retry(`jobs/${id}`, { from: '' })).toMatchObject({ status: 400 })
    expect((await retry(`jobs/${id}`, { from: 'object' })).status).toBe(204)
    await until('snoozed', failed)
    expect(await steps()).toMatchObject({ steps: [bytes, { ...object, value: { call: 2 }, run: 3 }] })
    await http.send('POST', `/v1/jobs/${id}/cancel`)
    expect((await retry(`jobs/${id}`, { from: 'start' })).status).toBe(204)
    await worker.stop()
    await http.send('POST', `/v1/jobs/${id}/cancel`)
    expect(await http.send('GET', `/v1/jobs/${bystander}/steps`)).toMatchObject({ status: 200, body: { steps: [], waits: [] } })
    for (const query of ['?limit=0', '?limit=1001', '?after=-1', '?order=newest'])
      expect((await http.send('GET', `/v1/jobs/${id}/steps${query}`)).status, query).toBe(400)
    expect(await http.send('GET', '/v1/jobs/no-id/steps')).toMatchObject({ status: 404, body: { code: 'JOB_NOT_FOUND' } })
  })

  test('a retry of a job that went on after a failed step is a conflict, by its id and by its key', async () => {
    const job = defineJob<number>({ name: 'undone' })
    const id = await create({ job: 'undone', data: 1, options: { maxAttempts: 1, idempotencyKey: 'u' } })
    const worker = engine.work(
      job.handler(async ({ step }) => {
        const error = await step('fails', () => Promise.reject(new RangeError('no'))).catch((thrown: unknown) => thrown)
        await step('undo', () => null)
        throw error
      }),
    )
    await expect(engine.handle(id).result()).rejects.toMatchObject({ code: 'JOB_FAILED' })
    await worker.stop()
    for (const path of [`jobs/${id}`, 'keys/idempotency/undone/u'])
      expect(await http.send('POST', `/v1/${path}/retry`)).toMatchObject({ status: 409, body: { code: 'AMBIGUOUS_RETRY' } })
    expect((await http.send('POST', '/v1/keys/idempotency/undone/u/retry', { body: { from: 'fails' } })).status).toBe(204)
    expect((await http.send('GET', `/v1/jobs/${id}/steps`)).body).toEqual({ steps: [], waits: [], messages: [], kept: 0 })
  })

  test('a message is sent by id and by key, as JSON or as bytes, once with a key, and a job that has ended refuses it', async () => {
    const id = await create({ job: 'messaged', options: { delay: '1h', unique: { key: 'u' } } })
    const bystander = await create({ job: 'messaged', options: { delay: '1h' } })
    const send = (path: string, body?: object, headers = {}) => http.send('POST', `/v1/${path}`, { ...(body && { body }), headers })
    const keyed = { 'idempotency-key': 'k' }
    expect(await send(`jobs/${id}/messages/approved`, { data: { by: 'ada' } }, keyed)).toMatchObject({
      status: 200,
      body: { outcome: 'kept' },
    })
    expect(await send(`jobs/${id}/messages/approved`, {}, keyed)).toMatchObject({ body: { outcome: 'known' } })
    expect(await send('keys/unique/messaged/u/messages/file', { data: 'AQI=', binary: ['data'], by: 'ops' })).toMatchObject({ status: 200 })
    expect(await send(`jobs/${id}/messages/none`)).toMatchObject({ body: { outcome: 'kept' } })
    const at = expect.stringMatching(/Z$/)
    expect((await http.send('GET', `/v1/jobs/${id}/steps`)).body).toEqual({
      steps: [],
      waits: [],
      kept: 3,
      messages: [
        { number: 1, name: 'approved', at, value: { by: 'ada' }, by: 'token' },
        { number: 2, name: 'file', at, value: 'AQI=', binary: true, by: 'ops' },
        { number: 3, name: 'none', at, value: null, by: 'token' },
      ],
    })
    expect((await http.send('GET', `/v1/jobs/${bystander}/steps`)).body).toMatchObject({ kept: 0, messages: [] })
    expect(await send(`jobs/${id}/messages/approved`, { idempotencyKey: 'other' }, keyed)).toMatchObject({ status: 400 })
    expect(await send(`jobs/${id}/messages/${'x'.repeat(513)}`)).toMatchObject({ status: 400 })
    expect(await send('keys/unique/messaged/nobody/messages/a')).toMatchObject({ status: 404, body: { code: 'JOB_NOT_FOUND' } })
    await http.send('POST', `/v1/jobs/${id}/cancel`)
    expect(await send(`jobs/${id}/messages/approved`)).toMatchObject({ status: 409, body: { code: 'JOB_FINISHED' } })
  })
})

describe('many', () => {
  test('an array is all or nothing', async () => {
    const before = (await engine.stats()).totals.enqueued
    const wrong = [
      { job: 'bulk', data: 1 },
      { job: 'bulk', options: { delay: '200000d' } },
    ]
    expect(await http.send('POST', '/v1/jobs:bulk', { body: wrong })).toMatchObject({
      status: 400,
      body: { code: 'OPTION_RANGE', option: 'delay' },
    })
    expect((await engine.stats()).totals.enqueued).toBe(before)
    const { status, body } = await http.send('POST', '/v1/jobs:bulk', {
      body: [
        { job: 'bulk', data: 1, options: { idempotencyKey: 'k' } },
        { job: 'bulk', data: 2 },
      ],
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({ created: 2, existing: 0, jobs: [{ created: true }, { created: true }] })
    expect(await http.send('POST', '/v1/jobs:bulk', { body: [{ job: 'bulk', options: { idempotencyKey: 'k' } }] })).toMatchObject({
      status: 200,
      body: { existing: 1 },
    })
  })

  test('an array with a key as a whole is created once', async () => {
    const sent = {
      body: [
        { job: 'keyed', data: 1 },
        { job: 'keyed', data: 2, options: { idempotencyKey: 'own' } },
      ],
      headers: { 'idempotency-key': 'all' },
    }
    expect((await http.send('POST', '/v1/jobs:bulk', sent)).body).toMatchObject({ created: 2 })
    expect(await http.send('POST', '/v1/jobs:bulk', sent)).toMatchObject({ status: 200, body: { created: 0, existing: 2 } })
    const keys = (await engine.list({ name: 'keyed' })).jobs.map(({ idempotencyKey }) => idempotencyKey)
    expect(keys).toEqual(['own', 'all:0'])
    expect((await http.send('POST', '/v1/jobs:bulk', { ...sent, headers: { 'idempotency-key': 'x'.repeat(491) } })).status).toBe(400)
  })

  test('M11: pages by signed cursors', async () => {
    await http.send('POST', '/v1/jobs:bulk', { body: Array.from({ length: 7 }, (_, index) => ({ job: 'paged', data: index })) })
    const seen: number[] = []
    let after = ''
    do {
      const { status, body } = await http.send('GET', `/v1/jobs?name=paged&limit=3${after}`)
      expect(status).toBe(200)
      seen.push(...body.jobs.map((job: { data: number }) => job.data))
      after = body.next === undefined ? '' : `&after=${encodeURIComponent(body.next)}`
    } while (after !== '')
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0])
    const { next } = (await http.send('GET', '/v1/jobs?limit=1')).body
    for (const forged of ['p1', 'cDE.AAAA', `x${next}`, next.slice(0, -2), 'cDE', '.', `${next.split('.')[0]}.`])
      expect(await http.send('GET', `/v1/jobs?after=${encodeURIComponent(forged)}`), forged).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION' },
      })
  })

  test('filters, and searches', async () => {
    await create({ job: 'found', data: { word: 'needle' }, options: { queue: 'hay', tags: ['t1'] } })
    for (const query of ['queue=hay', 'tag=t1', 'search=NEEDLE', 'name=found&state=waiting'])
      expect((await http.send('GET', `/v1/jobs?${query}`)).body.jobs, query).toMatchObject([{ name: 'found' }])
    for (const query of [
      'limit=0',
      'limit=201',
      'limit=1e2',
      'state=gone',
      'queue=a+b',
      'nope=1',
      'limit=1&limit=2',
      `search=${'x'.repeat(201)}`,
      'search=',
    ])
      expect((await http.send('GET', `/v1/jobs?${query}`)).status, query).toBe(400)
    expect((await http.send('GET', `/v1/jobs?search=${encodeURIComponent(`"'%_;) OR 1=1 --`)}`)).body.jobs).toEqual([])
  })

  test('filters by keys, times and retries, in each order, by signed cursors', async () => {
    await create({ job: 'timed', options: { queue: 'timed', concurrencyKey: 'k' } })
    const past = '2020-01-01T00:00:00Z'
    const list = async (query: string) => (await http.send('GET', `/v1/jobs?queue=timed&${query}`)).body
    for (const query of ['key=k', `enqueuedAfter=${past}`, 'enqueuedBefore=2999-01-01T00:00:00%2B01:00', 'retrying=false'])
      expect((await list(query)).jobs, query).toMatchObject([{ name: 'timed' }])
    for (const query of [
      'key=x',
      `enqueuedBefore=${past}`,
      'retrying=true',
      `finishedAfter=${past}`,
      'schedule=s',
      `finishedBefore=${past}`,
    ])
      expect((await list(query)).jobs, query).toEqual([])
    const filter = { queue: 'timed', key: 'k', retrying: false, enqueuedAfter: past }
    expect((await http.send('POST', '/v1/jobs:cancel', { body: { filter } })).body).toMatchObject({ matched: 1, changed: 1 })
    await create({ job: 'timed', options: { queue: 'timed' } })
    await http.send('POST', '/v1/jobs:cancel', { body: { filter: { queue: 'timed', state: 'waiting' } } })
    const first = await list('state=cancelled&order=finished&limit=1')
    expect(first.jobs).toHaveLength(1)
    const oldest = await list('state=cancelled,failed&order=oldest&limit=1')
    expect(oldest.jobs).toMatchObject([{ concurrencyKey: 'k' }])
    const newer = await list(`state=cancelled,failed&order=oldest&after=${oldest.next}`)
    expect(newer.jobs).toMatchObject(first.jobs)
    expect((await list('state=waiting,active')).jobs).toEqual([])
    await create({ job: 'timed', data: { customer: 7, of: ['a'] }, options: { queue: 'timed', meta: { by: 'ann' } } })
    for (const wanted of [{ customer: 7 }, { of: ['a'] }])
      expect((await list(`data=${encodeURIComponent(JSON.stringify(wanted))}`)).jobs).toMatchObject([{ meta: { by: 'ann' } }])
    expect((await list('data={"customer":8}')).jobs).toEqual([])
    expect((await list('meta={"by":"ann"}&data={"customer":7}')).jobs).toHaveLength(1)
    const contained = { queue: 'timed', data: { customer: 7 } }
    expect((await http.send('POST', '/v1/jobs:delete', { body: { filter: contained } })).body).toMatchObject({ matched: 1, changed: 1 })
    expect((await http.send('POST', '/v1/jobs:delete', { body: { filter: { data: {} } } })).body).toMatchObject({ option: 'data' })
    const several = { queue: 'timed', state: ['failed', 'completed'] }
    expect((await http.send('POST', '/v1/jobs:delete', { body: { filter: several } })).body).toMatchObject({ matched: 0 })
    const second = await list(`state=cancelled&order=finished&after=${first.next}`)
    expect(second.jobs).toMatchObject([{ concurrencyKey: 'k' }])
    expect((await http.send('GET', `/v1/jobs?queue=timed&after=${first.next}`)).body).toMatchObject({ option: 'after' })
    for (const query of [
      'order=due',
      'order=finished',
      'order=latest',
      'state=',
      'data=',
      'data={}',
      'data={"n":12345678901234567891}',
      'meta=no',
      'state=failed,done',
      'state=failed,cancelled&order=finished',
      'retrying=yes',
      'enqueuedAfter=yesterday',
      'key=',
      'finishedAfter=1',
    ])
      expect((await http.send('GET', `/v1/jobs?${query}`)).status, query).toBe(400)
    await http.send('POST', '/v1/jobs:delete', { body: { filter: { queue: 'timed', finishedAfter: past } } })
    expect((await list('')).jobs).toEqual([])
  })

  test('include=lastRun: who has run each job last, and its error, as far as a list shows it', async () => {
    const fails = defineJob({ name: 'fails' })
    const worker = engine.work(
      fails.handler(() => {
        throw new RangeError('n'.repeat(1_000))
      }),
      { id: 'the-worker' },
    )
    const id = await create({ job: 'fails', options: { maxAttempts: 1 } })
    await create({ job: 'never', options: { delay: '1h' } })
    for await (const event of engine.events({ filter: { jobId: id, types: ['failed'] } })) if (event.type === 'failed') break
    await worker.stop()
    const [job] = (await http.send('GET', '/v1/jobs?name=fails&include=lastRun')).body.jobs
    const when = expect.stringMatching(/^\d{4}-/)
    const error = { name: 'RangeError', message: 'n'.repeat(300) }
    expect(job.lastRun).toEqual({ run: 1, startedAt: when, endedAt: when, worker: 'the-worker', error })
    expect(job.attempts).toEqual([])
    expect((await http.send('GET', '/v1/jobs?name=never&include=lastRun')).body.jobs[0]).not.toHaveProperty('lastRun')
    expect((await http.send('GET', '/v1/jobs?name=fails')).body.jobs[0]).not.toHaveProperty('lastRun')
    for (const query of ['include=', 'include=attempts', 'include=lastRun,lastRun', 'lastRun=true'])
      expect((await http.send('GET', `/v1/jobs?${query}`)).status, query).toBe(400)
    await engine.delete(id)
  })

  test('cancel, retry, redrive and delete by a filter; an empty one is refused', async () => {
    await http.send('POST', '/v1/jobs:bulk', { body: Array.from({ length: 3 }, () => ({ job: 'mass' })) })
    const filter = { name: 'mass' }
    expect((await http.send('POST', '/v1/jobs:cancel', { body: { filter, dryRun: true } })).body).toMatchObject({ matched: 3, changed: 3 })
    expect((await http.send('POST', '/v1/jobs:cancel', { body: { filter, limit: 2 } })).body).toMatchObject({ changed: 2 })
    expect((await http.send('POST', '/v1/jobs:retry', { body: { filter } })).body).toMatchObject({ changed: 2, skipped: {} })
    expect((await http.send('POST', '/v1/jobs:redrive', { body: { name: 'mass' } })).body).toEqual({ count: 0 })
    expect((await http.send('POST', '/v1/jobs:redrive')).body).toEqual({ count: 0 })
    expect((await http.send('POST', '/v1/jobs:delete', { body: { filter } })).body).toMatchObject({ changed: 3 })
    for (const word of ['cancel', 'retry', 'delete', 'run'])
      expect(await http.send('POST', `/v1/jobs:${word}`, { body: { filter: {} } }), word).toMatchObject({
        status: 400,
        body: { code: 'OPTION_TYPE', option: 'filter' },
      })
  })

  test('a job by its key', async () => {
    const options = { unique: { key: 'a/b', onConflict: 'skip' }, idempotencyKey: 'once', delay: '1h' }
    const { body } = await http.send('POST', '/v1/jobs', { body: { job: 'keyed', options } })
    const bystander = await http.send('POST', '/v1/jobs', { body: { job: 'keyed', options: { delay: '1h' } } })
    const [unique, once] = ['/v1/keys/unique/keyed/a%2Fb', '/v1/keys/idempotency/keyed/once']
    expect(await http.send('GET', unique)).toMatchObject({ status: 200, body: { id: body.id } })
    expect(await http.send('PATCH', unique, { body: { tags: ['u'], runAt: '2040-01-02T03:04:05Z' } })).toMatchObject({ status: 204 })
    expect(await http.send('POST', `${once}/run`)).toMatchObject({ status: 204 })
    expect((await http.send('GET', once)).body).toMatchObject({ id: body.id, state: 'waiting', tags: ['u'] })
    expect((await http.send('POST', `${unique}/release`)).body).toEqual({ released: true })
    expect((await http.send('POST', `${unique}/release`)).body).toEqual({ released: false })
    expect(await http.send('GET', unique)).toMatchObject({ status: 404, body: { code: 'JOB_NOT_FOUND' } })
    expect((await http.send('POST', `${once}/cancel`)).body).toEqual({ outcome: 'cancelled' })
    expect(await http.send('POST', `${once}/retry`)).toMatchObject({ status: 204 })
    expect(await http.send('DELETE', once)).toMatchObject({ status: 204 })
    for (const method of ['GET', 'DELETE'] as const) expect((await http.send(method, once)).status).toBe(404)
    expect((await http.send('GET', '/v1/keys/other/keyed/once')).status).toBe(400)
    expect((await http.send('GET', `/v1/jobs/${bystander.body.id}`)).body).toMatchObject({ state: 'scheduled', tags: [] })
  })

  test('jobs of a flow by its id', async () => {
    const nodes = [
      { ref: 'a', job: 'of', options: { delay: '1h' } },
      { ref: 'b', job: 'of', dependsOn: ['a'] },
    ]
    const [{ body }, { body: bystander }] = [
      await http.send('POST', '/v1/flows', { body: { nodes } }),
      await http.send('POST', '/v1/flows', { body: { nodes } }),
    ]
    const flow = body.id
    const refs = ({ body: page }: { readonly body: { readonly jobs: readonly { readonly flow: { readonly ref: string } }[] } }) =>
      page.jobs.map((job) => job.flow.ref)
    expect(refs(await http.send('GET', `/v1/jobs?flow=${flow}`))).toEqual(['b', 'a'])
    expect((await http.send('POST', '/v1/jobs:delete', { body: { filter: { flow } } })).body).toMatchObject({ matched: 2, changed: 2 })
    expect(refs(await http.send('GET', `/v1/jobs?flow=${flow}`))).toEqual([])
    expect(refs(await http.send('GET', `/v1/jobs?flow=${bystander.id}`))).toEqual(['b', 'a'])
    expect(await http.send('GET', '/v1/jobs?flow=none')).toMatchObject({ status: 400, body: { option: 'flow' } })
    await http.send('POST', '/v1/jobs:delete', { body: { filter: { flow: bystander.id } } })
  })

  test('run and update by a filter', async () => {
    const jobs = Array.from({ length: 2 }, () => ({ job: 'later', options: { delay: '1h' } }))
    const { body } = await http.send('POST', '/v1/jobs:bulk', { body: jobs })
    const filter = { name: 'later' }
    const changes = { runAt: '2040-01-02T03:04:05Z', priority: 5, weight: 2, tags: ['moved'], meta: { by: 'http' } }
    expect((await http.send('POST', '/v1/jobs:update', { body: { filter, changes, limit: 1 } })).body).toMatchObject({ changed: 1 })
    const views = await Promise.all(body.jobs.map(({ id }: { readonly id: string }) => http.send('GET', `/v1/jobs/${id}`)))
    expect(views.map((view) => view.body.priority)).toEqual([0, 5])
    expect(views[1]?.body).toMatchObject({
      runAt: '2040-01-02T03:04:05.000Z',
      weight: 2,
      state: 'scheduled',
      tags: ['moved'],
      meta: { by: 'http' },
    })
    expect((await http.send('POST', '/v1/jobs:run', { body: { filter } })).body).toMatchObject({ changed: 2, skipped: {} })
    expect((await http.send('POST', '/v1/jobs:run', { body: { filter } })).body).toMatchObject({ changed: 0, skipped: { waiting: 2 } })
    for (const wrong of [{}, { data: 1 }, { priority: 0.5 }, { tags: 'a' }])
      expect((await http.send('POST', '/v1/jobs:update', { body: { filter, changes: wrong } })).status, JSON.stringify(wrong)).toBe(400)
    await http.send('POST', '/v1/jobs:delete', { body: { filter } })
  })

  test('a flow', async () => {
    const body = {
      nodes: [
        { ref: 'sum', job: 'sum', dependsOn: ['a', 'b'] },
        { ref: 'a', job: 'part' },
        { ref: 'b', job: 'part', options: { timeout: null } },
      ],
      options: {},
    }
    const headers = { 'idempotency-key': 'flow 1' }
    const first = await http.send('POST', '/v1/flows', { body, headers })
    expect(first.status).toBe(201)
    expect(Object.keys(first.body.jobs).toSorted()).toEqual(['a', 'b', 'sum'])
    expect((await http.send('GET', `/v1/jobs/${first.body.jobs.sum}`)).body).toMatchObject({
      state: 'blocked',
      flow: { id: first.body.id, ref: 'sum', parents: 2 },
    })
    expect(await http.send('POST', '/v1/flows', { body, headers })).toMatchObject({
      status: 200,
      body: { id: first.body.id, created: false },
    })
    expect(first.headers.get('location')).toBe(`/v1/flows/${first.body.id}`)
    const beside = await http.send('POST', '/v1/flows', { body: { nodes: [{ ref: 'beside', job: 'part' }] } })
    const page = await http.send('GET', `/v1/flows/${first.body.jobs.sum}?limit=2`)
    expect(page).toMatchObject({
      status: 200,
      body: { id: first.body.id, jobs: [{ ref: 'a', state: 'waiting', dependsOn: [] }, { ref: 'b' }], next: expect.any(String) },
    })
    const last = (await http.send('GET', `/v1/flows/${first.body.id}?after=${page.body.next}`)).body
    expect(last).toMatchObject({
      id: first.body.id,
      jobs: [{ ref: 'sum', name: 'sum', onParentFailure: 'fail', dependsOn: [{ ref: 'a', id: first.body.jobs.a }, { ref: 'b' }] }],
    })
    expect(last).not.toHaveProperty('next')
    await http.send('POST', `/v1/jobs/${first.body.jobs.a}/cancel`)
    const told = (await http.send('GET', `/v1/flows/${first.body.id}`)).body
    expect(told.jobs.map(({ state }: { state: string }) => state)).toEqual(['cancelled', 'waiting', 'failed'])
    expect(told.jobs[2].dependsOn).toMatchObject([{ told: 'cancelled' }, { ref: 'b' }])
    expect((await http.send('GET', `/v1/flows/${beside.body.id}`)).body.jobs).toMatchObject([{ ref: 'beside', state: 'waiting' }])
    const plain = await http.send('POST', '/v1/jobs', { body: { job: 'part' } })
    for (const id of [plain.body.id, 'none'])
      expect(await http.send('GET', `/v1/flows/${id}`)).toMatchObject({ status: 404, body: { code: 'FLOW_NOT_FOUND' } })
    for (const query of ['limit=0', 'limit=201', 'after=made-up'])
      expect(await http.send('GET', `/v1/flows/${first.body.id}?${query}`)).toMatchObject({ status: 400, body: { code: 'VALIDATION' } })
    const none = { scheduled: 0, waiting: 0, active: 0, blocked: 0, completed: 0, failed: 0, cancelled: 0 }
    const states = { ...none, waiting: 1, failed: 1, cancelled: 1 }
    expect([told.states, last.states]).toEqual([states, { ...none, waiting: 2, blocked: 1 }])
    const second = await http.send('POST', '/v1/flows', { body: { nodes: body.nodes } })
    const { id, state, name, queue } = { id: first.body.id, state: 'running', name: 'part', queue: 'default' }
    const enqueuedAt = expect.stringMatching(/^\d{4}-.*Z$/)
    const newest = await http.send('GET', '/v1/flows?limit=1')
    expect(newest).toMatchObject({ status: 200, body: { flows: [{ id: second.body.id, states: last.states }], next: expect.any(String) } })
    const rest = (await http.send('GET', `/v1/flows?after=${newest.body.next}`)).body
    expect(rest).toEqual({ flows: [{ id, name, queue, state, states, enqueuedAt }] })
    await http.send('POST', `/v1/jobs/${first.body.jobs.b}/cancel`)
    const failed = (await http.send('GET', '/v1/flows?state=failed')).body.flows
    expect(failed).toMatchObject([{ id, state: 'failed', states: { ...none, failed: 1, cancelled: 2 }, finishedAt: enqueuedAt }])
    for (const query of ['limit=0', 'limit=201', 'after=made-up', `after=${page.body.next}`, 'state=active', 'queue=a'])
      expect(await http.send('GET', `/v1/flows?${query}`), query).toMatchObject({ status: 400, body: { code: 'VALIDATION' } })
    const circle = {
      nodes: [
        { ref: 'a', job: 'x', dependsOn: ['b'] },
        { ref: 'b', job: 'x', dependsOn: ['a'] },
      ],
    }
    expect(await http.send('POST', '/v1/flows', { body: circle })).toMatchObject({ status: 400, body: { code: 'OPTION_TYPE' } })
  })
})

test('every operation of jobs was called, with every answer that is no error', () => {
  const missing = http.operations
    .filter(({ id, tag }) => tag === 'jobs' && id !== 'importJobs' && !/^getJob./.test(id))
    .flatMap(({ id, responses }) => Object.keys(responses).map((status) => `${id} ${status}`))
    .filter((call) => !http.seen.has(call))
  expect(missing).toEqual([])
})
