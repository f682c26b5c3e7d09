/** Payloads of bytes: every door that takes data takes them as the answers show them, and as an export writes them. */
import { defineJob, type Engine, openEngine } from '@millrace/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApi } from './testing/api.ts'

let engine: Engine
let http: ReturnType<typeof testApi>

beforeAll(async () => {
  engine = await openEngine({ file: ':memory:' })
  http = testApi(engine)
})
afterAll(() => engine.stop())

const BYTES = new Uint8Array([1, 2, 255])
const TEXT = 'AQL/'
const job = 'mail'

type Send = (fields: object) => Promise<{ readonly status: number; readonly body: Record<string, unknown> }>

const waiting = async () => (await engine.enqueue(job, { base64: TEXT }, { unique: { key: 'held' } })).id
const newest = async () => (await engine.list({ limit: 1 })).jobs[0]
const dataOf = async (id: unknown) => (await engine.get(id as string))?.data

/** Sends `data` and `binary`, and returns the answer with the payload that is stored then. */
const DOORS: Record<string, { readonly send: Send; readonly stored: (body: Record<string, unknown>) => Promise<unknown> }> = {
  'POST /v1/jobs': { send: (fields) => http.send('POST', '/v1/jobs', { body: { job, ...fields } }), stored: ({ id }) => dataOf(id) },
  'POST /v1/jobs:bulk': {
    send: (fields) =>
      http.send('POST', '/v1/jobs:bulk', {
        body: [
          { job, data: { base64: TEXT } },
          { job, ...fields },
        ],
      }),
    stored: ({ jobs }) => dataOf((jobs as { id: string }[])[1]?.id),
  },
  'POST /v1/flows': {
    send: (fields) => http.send('POST', '/v1/flows', { body: { nodes: [{ ref: 'a', job, ...fields }] } }),
    stored: ({ jobs }) => dataOf((jobs as { a: string }).a),
  },
  'PATCH /v1/jobs/{id}': {
    send: async (fields) => http.send('PATCH', `/v1/jobs/${await waiting()}`, { body: fields }),
    stored: async () => dataOf(await waiting()),
  },
  'PATCH /v1/keys/...': {
    send: async (fields) => {
      await waiting()
      return http.send('PATCH', '/v1/keys/unique/mail/held', { body: fields })
    },
    stored: async () => dataOf(await waiting()),
  },
  'PUT /v1/schedules/{id}': {
    send: (fields) => http.send('PUT', '/v1/schedules/put', { body: { every: '1h', job, ...fields } }),
    stored: async () => (await engine.schedules.get('put'))?.data,
  },
  'POST /v1/schedules': {
    send: async (fields) => {
      await engine.schedules.delete('post').catch(() => {})
      return http.send('POST', '/v1/schedules', { body: { id: 'post', every: '1h', job, ...fields } })
    },
    stored: async () => (await engine.schedules.get('post'))?.data,
  },
  'PATCH /v1/schedules/{id}': {
    send: async (fields) => {
      await engine.schedules.upsert('patch', { every: '1h' }, { job })
      return http.send('PATCH', '/v1/schedules/patch', { body: fields })
    },
    stored: async () => (await engine.schedules.get('patch'))?.data,
  },
}

describe.each(Object.entries(DOORS))('%s', (_door, { send, stored }) => {
  test.each([
    ['as answers show them', TEXT],
    ['as an export writes them', { base64: TEXT }],
  ])('takes bytes %s', async (_how, data) => {
    const { status, body } = await send({ data, binary: ['data'] })
    expect(status, JSON.stringify(body)).toBeLessThan(300)
    expect(await stored(body)).toEqual(BYTES)
  })

  test('takes an object with base64 as an object, without binary', async () => {
    const { body } = await send({ data: { base64: TEXT }, binary: [] })
    expect(await stored(body)).toEqual({ base64: TEXT })
  })

  test.each([
    ['no base64', 'AQL'],
    ['base64 of another alphabet', 'AQL_'],
    ['base64 with a digit too many', 'AR=='],
    ['an object with more', { base64: TEXT, more: 1 }],
    ['a number', 1],
    ['nothing', undefined],
  ])('refuses %s', async (_what, data) => {
    const before = (await engine.list({ limit: 1 })).jobs[0]?.id
    const { status, body } = await send({ data, binary: ['data'] })
    expect({ status, code: body['code'], option: body['option'] }).toEqual({
      status: 400,
      code: 'OPTION_TYPE',
      option: expect.stringMatching(/data$/),
    })
    expect(body['detail']).toMatch(/must be base64, as a string or \{ "base64": … \}, because binary names it; got /)
    if (before !== undefined && !/PATCH/.test(_door)) expect((await newest())?.id).toBe(before)
  })

  test('refuses the name of a payload that it does not take', async () => {
    expect(await send({ data: TEXT, binary: ['output'] })).toMatchObject({ status: 400, body: { code: 'VALIDATION' } })
  })
})

test('a checkpoint of bytes is changed as data is', async () => {
  const id = await waiting()
  const change = (body: object) => http.send('PATCH', `/v1/jobs/${id}`, { body })
  expect((await change({ data: TEXT, checkpoint: { base64: '' }, binary: ['checkpoint'] })).status).toBe(204)
  expect(await engine.get(id)).toMatchObject({ data: TEXT, checkpoint: new Uint8Array() })
  expect(await change({ checkpoint: 'x', binary: ['checkpoint'] })).toMatchObject({ status: 400, body: { option: 'checkpoint' } })
})

test('what an answer shows can be sent again, and is the same', async () => {
  const { id } = await engine.enqueue('copied', BYTES)
  const { data, binary } = (await http.send('GET', `/v1/jobs/${id}`)).body
  const { body } = await http.send('POST', '/v1/jobs', { body: { job, data, binary } })
  expect(await dataOf(body.id)).toEqual(BYTES)
})

test('a schedule shows its data and the output of its last job as base64', async () => {
  await engine.schedules.upsert('shown', { every: '1h', runImmediately: true }, { job: 'shown', data: BYTES })
  const worker = engine.work(defineJob<Uint8Array>({ name: 'shown' }).handler(({ data }) => data))
  for await (const event of engine.events({ filter: { name: 'shown' }, after: 0 })) if (event.type === 'completed') break
  await worker.stop()
  const { body } = await http.send('GET', '/v1/schedules/shown')
  expect(body).toMatchObject({ data: TEXT, binary: ['data'], lastResult: { output: TEXT, binary: true } })
  await engine.schedules.upsert('plain', { every: '1h' }, { job: 'plain', data: { base64: TEXT } })
  expect((await http.send('GET', '/v1/schedules/plain')).body).not.toHaveProperty('binary')
})

test.each([
  ['application/x-ndjson', `"${TEXT}"\n{"base64":"${TEXT}"}\n"no"\n1\n`, [3, 4]],
  ['text/plain', `${TEXT}\n\nno\n`, [3]],
])('an import of %s with binary=data takes a payload of bytes a line', async (type, lines, refused) => {
  const queue = `import.${type.length}`
  const { status, body } = await http.send('POST', `/v1/jobs:import?name=mail&queue=${queue}&binary=data`, {
    headers: { 'content-type': type },
    raw: lines,
  } as never)
  expect({ status, refused: body.refused }).toEqual({ status: 200, refused: refused.length })
  expect(body.errors.map(({ line, code }: { line: number; code: string }) => [line, code])).toEqual(
    refused.map((line) => [line, 'OPTION_TYPE']),
  )
  const { jobs } = await engine.list({ queue })
  expect(jobs.map(({ data }) => data)).toEqual(Array(type === 'text/plain' ? 1 : 2).fill(BYTES))
})
