import { shortId } from '@millrace/core'
import { defineJob, type Engine, openEngine } from '@millrace/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHttp } from './createHttp.ts'
import type { HttpOptions } from './options.ts'
import { Redaction, redactOption } from './redaction.ts'
import { TOKEN, testApi } from './testing/api.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: { readonly enum?: readonly string[] }
}

const SECRET = 'grace@secrets.example'
const BLANK = '[redacted]'

/** The parameters that some choices of a query require. */
const NEEDED: Readonly<Record<string, string>> = { 'order=finished': '&state=completed', 'order=due': '&state=scheduled' }

describe('paths', () => {
  const blanked = (paths: readonly string[], data: unknown) => new Redaction(redactOption(paths)).blanked('data', data)

  test.each<[string, unknown, unknown]>([
    ['data.user.email', { user: { email: SECRET, name: 'Ada' }, email: 'kept' }, { user: { email: BLANK, name: 'Ada' }, email: 'kept' }],
    ['*.password', { password: SECRET, nested: { password: 'kept' } }, { password: BLANK, nested: { password: 'kept' } }],
    ['*.*.password', { a: { password: SECRET }, b: { password: SECRET }, c: 1 }, { a: { password: BLANK }, b: { password: BLANK }, c: 1 }],
    ['data.list.*.email', { list: [{ email: SECRET }, { name: 'kept' }, 7] }, { list: [{ email: BLANK }, { name: 'kept' }, 7] }],
    ['data.list.1', { list: ['kept', SECRET] }, { list: ['kept', BLANK] }],
    ['data.*', [SECRET, { a: 1 }], [BLANK, BLANK]],
    ['data', { a: SECRET }, BLANK],
    ['*', SECRET, BLANK],
    ['data.a', { a: null }, { a: BLANK }],
    ['data.a', { a: { b: SECRET } }, { a: BLANK }],
    ['data.a', { a: 0, b: false }, { a: BLANK, b: false }],
    ['data.größe in cm', { 'größe in cm': 170 }, { 'größe in cm': BLANK }],
    ['data.A', { a: 'kept' }, { a: 'kept' }],
    ['data.a.b', { a: 'kept' }, { a: 'kept' }],
    ['data.length', ['kept'], ['kept']],
    ['data.0', 'kept', 'kept'],
    ['data.constructor', { a: 'kept' }, { a: 'kept' }],
    ['data.a', undefined, undefined],
    ['data.a', null, null],
    ['output.a', { a: 'kept' }, { a: 'kept' }],
  ])('%s', (path, data, shown) => {
    const before = structuredClone(data)
    expect(blanked([path], data)).toEqual(shown)
    expect(data, 'what is stored').toEqual(before)
  })

  test('a recorded result that could not be decoded is hidden as a whole if a path may lead into it', () => {
    const at = new Date(1)
    const step = { number: 1, name: 's', kind: 'step', run: 1, startedAt: at, endedAt: at, value: SECRET } as const
    const shown = (path: string, undecoded: boolean) =>
      new Redaction(redactOption([path])).step({ ...step, ...(undecoded && { undecoded }) })
    for (const path of ['steps.a', '*.a', 'steps']) expect(shown(path, true), path).toEqual({ ...step, undecoded: true, value: BLANK })
    expect(shown('data.a', true).value).toBe(SECRET)
    expect(shown('steps.a', false)).toEqual(step)
  })

  test('several, one within the other, in any order', () => {
    const data = { user: { email: SECRET, keys: [SECRET, SECRET] } }
    for (const paths of [
      ['data.user.email', 'data.user.keys.*'],
      ['data.user', 'data.user.email'],
      ['data.user.email', 'data.user'],
    ])
      expect(JSON.stringify(blanked(paths, data))).not.toContain(SECRET)
  })

  test('what has no blank is the same object; beside a blank, only the way to it is copied', () => {
    const data = { user: { email: SECRET }, other: { big: [1, 2, 3] } }
    expect(blanked(['data.nobody.email', '*.nope', 'data.*.*.x'], data)).toBe(data)
    const shown = blanked(['data.user.email'], data) as typeof data
    expect(shown.other).toBe(data.other)
  })

  test('a key of the prototype is one like any other', () => {
    const data = JSON.parse('{"__proto__":{"email":"x"},"a":1}')
    const shown = blanked(['data.__proto__.email'], data)
    expect(JSON.stringify(shown)).toBe(`{"__proto__":{"email":"${BLANK}"},"a":1}`)
    expect(({} as { email?: string }).email).toBeUndefined()
  })

  describe('as they are stored', () => {
    const redaction = new Redaction(redactOption(['data.user.email', 'checkpoint']))
    const text = JSON.stringify({ user: { email: SECRET }, a: [1] })
    const [same, bytes] = ['{ "a": 1 }', new Uint8Array([1])]

    test('JSON has its blanks, and nothing is shown of what is no JSON', () => {
      expect(redaction.stored('data', text)).toEqual({ shown: `{"user":{"email":"${BLANK}"},"a":[1]}`, hides: true })
      expect(redaction.stored('data', same)).toEqual({ shown: '{"a":1}', hides: false })
      for (const part of [text.slice(0, -3), '', 'no JSON'])
        expect(redaction.stored('data', part)).toEqual({ shown: undefined, hides: true })
    })

    test('what has no paths is as it was, cut or not', () => {
      for (const payload of [text, same, text.slice(0, -3), '', bytes])
        expect(redaction.stored('output', payload)).toEqual({ shown: payload, hides: false })
    })

    test('bytes are hidden as a whole, or shown', () => {
      expect(redaction.stored('data', bytes)).toEqual({ shown: bytes, hides: false })
      expect(redaction.stored('checkpoint', bytes)).toEqual({ shown: `"${BLANK}"`, hides: true })
    })

    test('a key that is there twice does not hide its first value from the paths', () => {
      const twice = `{"user":{"email":"${SECRET}"},"user":{}}`
      expect(redaction.stored('data', twice)).toEqual({ shown: '{"user":{}}', hides: false })
    })
  })

  test('deep and wide values', () => {
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, key) => [`k${key}`, { password: SECRET }]))
    expect(JSON.stringify(blanked(['*.*.password'], wide))).not.toContain(SECRET)
    let deep: unknown = SECRET
    for (let level = 0; level < 200; level++) deep = [deep]
    expect(JSON.stringify(blanked([`data${'.*'.repeat(200)}`], deep))).not.toContain(SECRET)
  })
})

describe('options', () => {
  const build = (redact: unknown) => () => createHttp({} as Engine, { token: TOKEN, redact } as HttpOptions)

  test.each([
    'data.email',
    ['data.email', ''],
    ['user.email'],
    ['job.data.email'],
    ['data..email'],
    ['data.'],
    ['.data'],
    ['data.**'],
    ['data.a*'],
    ['data[0]'],
    ['data["a"]'],
    ["data.'a'"],
    [7],
    [null],
    [['data']],
    { data: true },
  ])('%j is refused, and the paths that are possible are named', (redact) => {
    const refused = expect.objectContaining({ code: 'OPTION_TYPE', option: expect.stringMatching(/^redact(?:\[\d\])?$/) })
    expect(build(redact)).toThrow(refused)
  })

  test('a message shows how to write one', () => {
    expect(build(['data.a', 'user.email'])).toThrow(
      `redact[1] must be keys with dots in between, the first one of data, output, checkpoint, meta, progressValue, steps, fields and *, as 'data.user.email' or '*.password', got "user.email"`,
    )
  })

  test.each([
    [Array(101).fill('data.a'), 100],
    [[`data.${'a'.repeat(508)}`], 512],
  ])('too many, too long', (redact, limit) => {
    expect(build(redact)).toThrow(expect.objectContaining({ code: 'OPTION_RANGE', limit }))
  })
})

describe('answers', () => {
  let engine: Engine
  let id: string
  const payload = { user: { email: SECRET, name: 'Ada' }, password: SECRET }
  const redact = ['data.user.email', 'output.user', '*.password', 'checkpoint.*.email']
  const api = (options: Partial<HttpOptions> = {}) => testApi(engine, { token: TOKEN, redact, ...options } as HttpOptions)

  beforeAll(async () => {
    engine = await openEngine({ file: ':memory:' })
    const job = defineJob<typeof payload, typeof payload>({ name: 'signup' })
    engine.work([
      job.handler(async ({ data, checkpoint, log, progress, step }) => {
        await step('ask', () => data)
        await checkpoint(data)
        progress({ password: SECRET, sent: 1 })
        log('info', 'a line', { password: SECRET, kept: 1 })
        return data
      }),
    ])
    const handle = await engine.enqueue(job, payload, { meta: { password: SECRET, trace: 'kept' }, idempotencyKey: 'once', tags: ['a'] })
    id = handle.id
    await handle.result()
    await engine.enqueue('bystander', { user: { name: 'Bob' } }, { delay: '1h' })
    await engine.enqueue('bytes', new TextEncoder().encode('{"password":1}'), { delay: '1h' })
    const scheduled = { job: 'signup', data: payload, options: { meta: { password: SECRET, trace: 'kept' } } }
    await engine.schedules.upsert('nightly', { every: '1d' }, scheduled)
    const triggered = await engine.schedules.trigger('nightly')
    await triggered.result()
  })
  afterAll(() => engine.stop())

  test('no payload shows what is hidden, to no token: jobs, lists, keys that matched, schedules, events, failures', async () => {
    const http = api()
    const answers = [
      await http.send('GET', `/v1/jobs/${id}`),
      await http.send('GET', '/v1/jobs'),
      await http.send('GET', '/v1/jobs?tag=a&name=signup'),
      await http.send('POST', '/v1/jobs', { body: { job: 'signup', options: { idempotencyKey: 'once' } } }),
      await http.send('GET', '/v1/schedules'),
      await http.send('GET', '/v1/schedules/nightly'),
      await http.send('GET', '/v1/failures'),
      await http.send('GET', '/v1/stats'),
    ]
    expect(answers.map(({ status }) => status)).toEqual(Array(answers.length).fill(200))
    expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain(SECRET)
    // Without the option, each of those with payloads shows it.
    expect(JSON.stringify((await testApi(engine).send('GET', '/v1/jobs')).body)).toContain(SECRET)
  })

  test.each<[paths: readonly string[], search: boolean, data: unknown, meta: unknown, allowed: boolean]>([
    [['data.user.email'], true, undefined, undefined, false],
    [['*.password'], true, undefined, undefined, false],
    [['data'], true, undefined, undefined, false],
    [['meta.trace', 'output', 'fields.a'], true, undefined, undefined, true],
    [['data.user.email'], false, { user: { name: 'Ada' } }, { password: 1 }, true],
    [['data.user.email'], false, { user: { email: 'g' } }, undefined, false],
    [['data.user.email'], false, { user: {} }, undefined, true],
    [['data.user'], false, { user: {} }, undefined, false],
    [['data'], false, null, undefined, false],
    // At the top, an array has what it contains.
    [['data.*'], false, 'secret', undefined, false],
    [['data.0'], false, 5, undefined, false],
    [['data.a'], false, 5, undefined, true],
    [['data.list.1'], false, { list: ['g'] }, undefined, false],
    [['data.list.*.email'], false, { list: [{ name: 'Ada', email: 'g' }] }, undefined, false],
    [['*.password'], false, undefined, { password: 'g' }, false],
    [['*.password'], false, { password: 'g' }, undefined, false],
    [['data.password'], false, undefined, { password: 'g' }, true],
    [['*'], false, undefined, { a: 1 }, false],
  ])(
    'with %j, a search (%j) and the filters data %j and meta %j: %s, in lists and in each bulk call',
    async (paths, search, data, meta, allowed) => {
      const http = api({ redact: paths })
      const filter = { ...(search && { search: 'g' }), ...(data !== undefined && { data }), ...(meta !== undefined && { meta }) }
      const query = Object.entries(filter).map(([name, value]): [string, string] => [name, name === 'search' ? 'g' : JSON.stringify(value)])
      const answers = [await http.send('GET', `/v1/jobs?${new URLSearchParams(query)}`)]
      const bodies = [{}, { changes: { priority: 1 } }].map((more) => ({ filter, dryRun: true, ...more }))
      const bulk = http.operations.flatMap(({ path, body }) => {
        const fitting = bodies.find((each) => body?.safeParse(each).success)
        return fitting === undefined ? [] : [{ path, body: fitting }]
      })
      expect(bulk.map(({ path }) => path.slice('/v1/jobs:'.length))).toEqual(['cancel', 'retry', 'delete', 'run', 'update'])
      for (const { path, body } of bulk) answers.push(await http.send('POST', path, { body }))
      for (const { status, body } of answers) expect([status, body.code]).toEqual(allowed ? [200, undefined] : [403, 'FORBIDDEN'])
    },
  )

  test('a search for a short id looks at that job alone, and never into hidden data', async () => {
    const http = api()
    const job = await engine.enqueue('signup', payload, { tags: ['one'] })
    // A hidden value that has the form of a short id.
    const other = await engine.enqueue('signup', { user: { email: 'abcd-012345' } })
    const found = async (query: string) => {
      const { status, body } = await http.send('GET', `/v1/jobs?${query}`)
      return [status, body.jobs?.map(({ id }: { readonly id: string }) => id) ?? body.code]
    }
    const [own, others] = [shortId(job.id), shortId(other.id)]
    expect(await found(`search=${own}`)).toEqual([200, [job.id]])
    expect(await found(`search=${own.toUpperCase()}&order=oldest&tag=one&limit=5`)).toEqual([200, [job.id]])
    expect(await found(`search=${others}&tag=one`)).toEqual([200, []])
    expect(await found('search=abcd-012345')).toEqual([200, []])
    expect(await found(`search=${own}x`)).toEqual([403, 'FORBIDDEN'])
    expect(await found(`search=${own}&data=${JSON.stringify({ user: { email: SECRET } })}`)).toEqual([403, 'FORBIDDEN'])
    const { body } = await http.send('GET', `/v1/jobs?limit=1`)
    expect(await found(`search=${own}&after=${body.next}`)).toEqual([403, 'FORBIDDEN'])
    // Bulk calls search the text of jobs alone.
    const bulk = await http.send('POST', '/v1/jobs:cancel', { body: { filter: { search: own }, dryRun: true } })
    expect([bulk.status, bulk.body.code]).toEqual([403, 'FORBIDDEN'])
    expect(JSON.stringify((await http.send('GET', `/v1/jobs?search=${own}`)).body)).not.toContain(SECRET)
  })

  test('no operation that reads shows what is hidden, whatever its query asks for', async () => {
    const { id: flow } = await engine.flow([{ ref: 'a', job: 'signup', data: payload, options: { meta: { password: SECRET } } }])
    const [http, plain] = [api({ redact: ['*'] }), testApi(engine)]
    const ids: Readonly<Record<string, string>> = { jobs: id, flows: flow, schedules: 'nightly', queues: 'default' }
    const { paths } = http.api.document() as unknown as { paths: Record<string, Record<string, { parameters?: Parameter[] }>> }
    const showing = new Set<string>()
    for (const { id: operation, method, path } of http.operations.filter((each) => each.method === 'get' && each.id !== 'events')) {
      const concrete = path
        .replace('{kind}/{name}/{key}', 'idempotency/signup/once')
        .replace(/\{\w+\}/, ids[path.split('/')[2] ?? ''] ?? 'none')
      const choices = (paths[path]?.[method]?.parameters ?? []).flatMap(({ name, in: place, schema }) =>
        (place === 'query' ? (schema.enum ?? []) : []).map((value) => `${name}=${value}${NEEDED[`${name}=${value}`] ?? ''}`),
      )
      for (const query of ['', ...choices]) {
        const answer = await http.open('GET', `${concrete}?${query}`)
        expect([200, 404], `${path}?${query}`).toContain(answer.status)
        expect(await answer.text(), `${path}?${query}`).not.toContain(SECRET)
        if ((await (await plain.open('GET', `${concrete}?${query}`)).text()).includes(SECRET)) showing.add(operation)
      }
    }
    // Without the option, these show it.
    const shows = [
      'listJobs',
      'getJob',
      'getJobByKey',
      'getJobLogs',
      'getJobSteps',
      'getJobData',
      'getJobOutput',
      'getJobCheckpoint',
      'listSchedules',
      'getSchedule',
    ]
    expect([...showing]).toEqual(expect.arrayContaining(shows))
  })

  test('a job says which payloads have blanks, and keeps all else', async () => {
    const shown = (await api().send('GET', `/v1/jobs/${id}`)).body
    expect(shown).toMatchObject({
      redacted: ['data', 'output', 'checkpoint', 'meta', 'progressValue'],
      data: { user: { email: BLANK, name: 'Ada' }, password: BLANK },
      output: { user: BLANK, password: BLANK },
      checkpoint: { user: { email: BLANK, name: 'Ada' }, password: BLANK },
      meta: { password: BLANK, trace: 'kept' },
      progressValue: { password: BLANK, sent: 1 },
      attempts: [{ logs: [{ message: 'a line', fields: { password: BLANK, kept: 1 } }] }],
    })
    const { lines } = (await api().send('GET', `/v1/jobs/${id}/logs`)).body
    expect(lines).toMatchObject([{ number: 0, message: 'a line', fields: { password: BLANK, kept: 1 } }])
    const { steps } = (await api().send('GET', `/v1/jobs/${id}/steps`)).body
    expect(steps).toMatchObject([{ name: 'ask', value: { user: { email: SECRET, name: 'Ada' }, password: BLANK } }])
    const whole = (await api({ redact: ['steps'] }).send('GET', `/v1/jobs/${id}/steps`)).body
    expect(whole.steps).toMatchObject([{ name: 'ask', value: BLANK }])
    const plain = (await testApi(engine).send('GET', `/v1/jobs/${id}`)).body
    const hidden = [...(shown['redacted'] as string[]), 'redacted', 'attempts']
    expect(plain).toMatchObject(Object.fromEntries(Object.entries(shown).filter(([name]) => !hidden.includes(name))))
    expect(plain).not.toHaveProperty('redacted')
    expect((await engine.get(id))?.data).toEqual(payload)
  })

  test('a preview has its blanks, whether it is whole or cut', async () => {
    const long = await engine.enqueue('long', { ...payload, text: 'x'.repeat(600) }, { delay: '1h', meta: { password: SECRET } })
    const preview = { bytes: JSON.stringify({ ...payload, text: 'x'.repeat(600) }).length, cut: true }
    const [listed] = (await api().send('GET', '/v1/jobs?name=long&payload=preview')).body.jobs
    expect(listed).toMatchObject({ preview: { data: preview }, redacted: ['data', 'meta'], meta: { password: BLANK } })
    expect(listed.preview.data.text).toMatch(/^\{"user":\{"email":"\[redacted\]","name":"Ada"\},"password":"\[redacted\]","text":"x+$/)
    const got = (await api().send('GET', `/v1/jobs/${long.id}?payload=preview`)).body
    const text = JSON.stringify({ user: { email: BLANK, name: 'Ada' }, password: BLANK, text: 'x'.repeat(600) })
    expect(got).toMatchObject({ preview: { data: { bytes: preview.bytes, text } }, redacted: ['data', 'meta'] })
    expect(got.preview.data).not.toHaveProperty('cut')
    const none = (await api().send('GET', `/v1/jobs/${long.id}?payload=none`)).body
    expect(none).toMatchObject({ redacted: ['meta'] })
    await engine.delete(long.id)
  })

  test.each([
    ['in a list', 600, (at: string) => `/v1/jobs?name=plain&payload=preview#${at}`],
    ['of one job', 70_000, (at: string) => `/v1/jobs/${at}?payload=preview`],
  ])('a cut preview without a hidden value is as without the option: %s', async (_what, length, pathOf) => {
    const { id: plain } = await engine.enqueue('plain', { order: 7, text: 'x'.repeat(length), late: { email: SECRET } }, { delay: '1h' })
    const path = pathOf(plain)
    const [shown, before] = [await api({ redact: ['data.late.email'] }).send('GET', path), await testApi(engine).send('GET', path)]
    expect(shown.body).toEqual(before.body)
    expect(JSON.stringify(shown.body)).not.toContain('redacted')
    await engine.delete(plain)
  })

  test('a preview in which nothing is hidden is as without the option, bytes too', async () => {
    for (const name of ['bystander', 'bytes']) {
      const path = `/v1/jobs?name=${name}&payload=preview`
      const [shown, plain] = [await api().send('GET', path), await testApi(engine).send('GET', path)]
      expect(shown.body).toEqual(plain.body)
      expect(shown.body.jobs[0].preview.data).toHaveProperty('text')
    }
    const [hidden] = (await api({ redact: ['data'] }).send('GET', '/v1/jobs?name=bytes&payload=preview')).body.jobs
    expect(hidden).toMatchObject({ preview: { data: { bytes: 14, text: `"${BLANK}"` } }, redacted: ['data'] })
    expect(hidden.preview.data).not.toHaveProperty('binary')
  })

  test('a download with hidden values is JSON with its blanks; any other is as it is stored', async () => {
    const file = async (http: ReturnType<typeof api>, path: string) => {
      const answer = await http.open('GET', path)
      return [answer.status, answer.headers.get('content-type'), await answer.text()]
    }
    const blanked = JSON.stringify({ user: { email: BLANK, name: 'Ada' }, password: BLANK })
    expect(await file(api(), `/v1/jobs/${id}/data`)).toEqual([200, 'application/json', blanked])
    expect(await file(api(), `/v1/jobs/${id}/checkpoint`)).toEqual([200, 'application/json', blanked])
    expect(await file(api(), `/v1/jobs/${id}/output`)).toEqual([200, 'application/json', JSON.stringify({ user: BLANK, password: BLANK })])
    const { jobs } = (await api().send('GET', '/v1/jobs?name=bytes')).body
    const path = `/v1/jobs/${jobs[0].id}/data`
    expect(await file(api(), path)).toEqual([200, 'application/octet-stream', '{"password":1}'])
    const http = api({ redact: ['data'] })
    expect(await file(http, path)).toEqual([200, 'application/json', `"${BLANK}"`])
    expect((await http.open('GET', path)).headers.get('content-disposition')).toBe(`attachment; filename="${jobs[0].id}-data.json"`)
  })

  test('a job in which nothing is hidden is as without the option, bytes too', async () => {
    for (const name of ['bystander', 'bytes']) {
      const [shown, plain] = [await api().send('GET', `/v1/jobs?name=${name}`), await testApi(engine).send('GET', `/v1/jobs?name=${name}`)]
      expect(shown.body).toEqual(plain.body)
    }
  })

  test('a schedule: its data, its meta and the output of its last job', async () => {
    const shown = (await api().send('GET', '/v1/schedules/nightly')).body
    expect(shown).toMatchObject({
      redacted: ['data', 'output', 'meta'],
      data: { user: { email: BLANK, name: 'Ada' }, password: BLANK },
      options: { meta: { password: BLANK, trace: 'kept' } },
      lastResult: { state: 'completed', output: { user: BLANK, password: BLANK } },
    })
  })

  test('all of it: every payload, and the fields of every line', async () => {
    const http = api({ redact: ['*'] })
    const shown = (await http.send('GET', `/v1/jobs/${id}`)).body
    expect(shown).toMatchObject({ data: BLANK, output: BLANK, checkpoint: BLANK, meta: BLANK, attempts: [{ logs: [{ fields: {} }] }] })
    for (const path of ['/v1/jobs', '/v1/schedules', '/v1/schedules/nightly'])
      expect(JSON.stringify((await http.send('GET', path)).body), path).not.toContain(SECRET)
    expect((await http.send('GET', '/v1/jobs?name=bytes')).body.jobs[0]).toMatchObject({
      data: BLANK,
      redacted: expect.arrayContaining(['data']),
    })
  })

  test('it hides, and changes nothing: an update writes what it is given', async () => {
    const http = api()
    const job = await engine.enqueue('changed', payload, { delay: '1h' })
    expect((await http.send('PATCH', `/v1/jobs/${job.id}`, { body: { priority: 5 } })).status).toBe(204)
    expect((await engine.get(job.id))?.data).toEqual(payload)
  })
})
