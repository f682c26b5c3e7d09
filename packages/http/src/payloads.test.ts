/** How much of payloads is shown, and payloads as downloads. */
import { defineJob, type Engine, openEngine } from '@millrace/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApi } from './testing/api.ts'

const KEYS = { reader: 'token-of-a-reader-0123', producer: 'token-of-a-producer-01' }

let engine: Engine
let http: ReturnType<typeof testApi>
/** Its data is 1,002 bytes of JSON, its output bytes, and it has no checkpoint. */
let id: string

beforeAll(async () => {
  engine = await openEngine({ file: ':memory:' })
  http = testApi(engine, {
    token: [
      { token: KEYS.reader, scopes: ['read'], name: 'reader' },
      { token: KEYS.producer, scopes: ['enqueue'], name: 'producer' },
    ],
  })
  const work = defineJob<string>({ name: 'work' })
  engine.work(work.handler(() => new Uint8Array(700).fill(255)))
  const handle = await engine.enqueue(work, 'ü'.repeat(500))
  await handle.result()
  id = handle.id
})
afterAll(() => engine.stop())

const get = (path: string, token = KEYS.reader) => http.send('GET', path, { token })

describe('payload', () => {
  test('preview: 512 bytes in lists, 64 KiB of one job, and how many there are', async () => {
    const [job] = (await get('/v1/jobs?payload=preview')).body.jobs
    expect(job).not.toHaveProperty('data')
    expect(job).not.toHaveProperty('output')
    expect(job.preview).toEqual({
      data: { bytes: 1_002, text: `"${'ü'.repeat(255)}`, cut: true },
      output: { bytes: 700, text: Buffer.alloc(512, 255).toString('base64'), binary: true, cut: true },
    })
    expect((await get(`/v1/jobs/${id}?payload=preview`)).body.preview).toEqual({
      data: { bytes: 1_002, text: JSON.stringify('ü'.repeat(500)) },
      output: { bytes: 700, text: Buffer.alloc(700, 255).toString('base64'), binary: true },
    })
  })

  test('none: neither payloads nor previews; full is what it always was', async () => {
    for (const path of ['/v1/jobs?payload=none', `/v1/jobs/${id}?payload=none`]) {
      const { body } = await get(path)
      const job = body.jobs?.[0] ?? body
      expect(job).toMatchObject({ id, state: 'completed' })
      for (const name of ['data', 'output', 'preview', 'binary']) expect(job, name).not.toHaveProperty(name)
    }
    const full = (await get(`/v1/jobs/${id}?payload=full`)).body
    expect(full).toEqual((await get(`/v1/jobs/${id}`)).body)
    expect(full).toMatchObject({ data: 'ü'.repeat(500), binary: ['output'] })
  })

  test.each(['payload=half', 'payload=', 'payload=full&payload=none', 'payloads=none'])('%s is refused', async (query) => {
    expect(await get(`/v1/jobs?${query}`)).toMatchObject({ status: 400, body: { code: 'VALIDATION' } })
    expect(await get(`/v1/jobs/${id}?${query}`)).toMatchObject({ status: 400, body: { code: 'VALIDATION' } })
  })
})

describe('a download', () => {
  test('is the JSON as it is stored, as a file', async () => {
    const { status, headers, body } = await get(`/v1/jobs/${id}/data`)
    expect([status, body]).toEqual([200, 'ü'.repeat(500)])
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${id}-data.json"`)
    const spaced = await engine.enqueue('other', { n: 1.5, list: [1, 2] })
    await engine.update(spaced.id, { checkpoint: [0] })
    const raw = async (name: string) => (await http.open('GET', `/v1/jobs/${spaced.id}/${name}`, { token: KEYS.reader })).text()
    expect(await raw('data')).toBe('{"n":1.5,"list":[1,2]}')
    expect(await raw('checkpoint')).toBe('[0]')
  })

  test('is the bytes as they are', async () => {
    const response = await http.open('GET', `/v1/jobs/${id}/output`, { token: KEYS.reader })
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${id}-output.bin"`)
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.alloc(700, 255))
  })

  test('of what a job does not have is none, and of no job neither', async () => {
    expect(await get(`/v1/jobs/${id}/checkpoint`)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } })
    for (const none of ['nonsense', '%0d%0aset-cookie:x', '00000000-0000-7000-8000-000000000000'])
      expect(await get(`/v1/jobs/${none}/data`), none).toMatchObject({ status: 404, body: { code: 'JOB_NOT_FOUND' } })
    expect((await get(`/v1/jobs/${id}/meta`)).status).toBe(404)
  })

  test('needs the scope read', async () => {
    expect(await get(`/v1/jobs/${id}/data`, KEYS.producer)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect((await get(`/v1/jobs/${id}/data`, 'token-that-nobody-knows')).status).toBe(401)
  })

  test('is decoded; one that the codec cannot decode is refused', async () => {
    const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 255)
    let broken = false
    const decode = (bytes: Uint8Array) => {
      if (broken) throw new Error('no such key')
      return flip(bytes)
    }
    const coded = await openEngine({ file: ':memory:', codec: { encode: flip, decode } })
    const api = testApi(coded)
    const { id: own } = await coded.enqueue('a', { secret: 1 })
    expect((await api.send('GET', `/v1/jobs/${own}/data`)).body).toEqual({ secret: 1 })
    expect((await api.send('GET', '/v1/jobs?payload=preview')).body.jobs[0].preview.data.text).toBe('{"secret":1}')
    broken = true
    expect(await api.send('GET', `/v1/jobs/${own}/data`)).toMatchObject({ status: 409, body: { code: 'CODEC', retryable: false } })
    expect((await api.send('GET', '/v1/jobs?payload=preview')).body.jobs).toMatchObject([{ undecoded: ['data'] }])
    await coded.stop()
  })
})

test('every download is in the document', () => {
  const downloads = http.operations.filter(({ id }) => /^getJob(?!Logs|Steps|ByKey)./.test(id))
  expect(downloads.map(({ path }) => path)).toEqual(['/v1/jobs/{id}/data', '/v1/jobs/{id}/output', '/v1/jobs/{id}/checkpoint'])
  const paths = http.api.document().paths as Readonly<
    Record<string, { readonly get: { readonly responses: Record<string, { content: object }> } }>
  >
  for (const { path } of downloads)
    expect(Object.keys(paths[path]?.get.responses['200']?.content ?? {})).toEqual(['application/json', 'application/octet-stream'])
})
