/** Compressed answers: which are, by which coding, and which never. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { type Engine, openEngine } from '@millrace/engine'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { testApi } from './testing/api.ts'

let engine: Engine
beforeEach(async () => {
  engine = await openEngine({ file: ':memory:' })
  for (let index = 0; index < 30; index++)
    await engine.enqueue('mail', { secret: 'x'.repeat(200) }, { queue: `queue-${index}`, delay: '1h' })
})
afterEach(() => engine.stop())

async function ask(path: string, encoding?: string) {
  const response = await testApi(engine).open('GET', path, { headers: encoding === undefined ? {} : { 'accept-encoding': encoding } })
  const coding = response.headers.get('content-encoding')
  return { response, coding, bytes: Buffer.from(await response.arrayBuffer()) }
}

test('an answer of numbers is compressed as the client prefers it, and says that it depends on that', async () => {
  const plain = await ask('/v1/stats')
  expect([plain.coding, plain.response.headers.get('vary'), plain.bytes.length > 5_000]).toEqual([null, 'accept-encoding', true])
  const [br, gzip] = [await ask('/v1/stats', 'gzip, br'), await ask('/v1/stats', 'gzip;q=1, br;q=0.5')]
  expect([br.coding, gzip.coding]).toEqual(['br', 'gzip'])
  for (const { bytes, response } of [br, gzip]) {
    expect(bytes.length).toBeLessThan(plain.bytes.length / 4)
    expect(response.headers.get('vary')).toBe('accept-encoding')
    expect(response.headers.get('cache-control')).toBe('no-store')
  }
  const queuesOf = (text: Buffer) => Object.keys((JSON.parse(text.toString()) as { queues: object }).queues)
  expect(queuesOf(brotliDecompressSync(br.bytes))).toEqual(queuesOf(plain.bytes))
  expect(queuesOf(gunzipSync(gzip.bytes))).toEqual(queuesOf(plain.bytes))
})

test('a short answer, an error, and a client that does not ask for it: plain', async () => {
  expect((await ask('/v1/info', 'br')).coding).toBeNull()
  expect((await ask('/v1/stats?nonsense=1', 'br')).coding).toBeNull()
  expect((await ask('/v1/stats', 'identity')).coding).toBeNull()
  expect((await ask('/v1/stats', 'br;q=0, gzip;q=0')).coding).toBeNull()
})

test('the document, which needs no token, is made once, however many ask for it, and compressed', async () => {
  const http = testApi(engine)
  const stringify = vi.spyOn(JSON, 'stringify')
  onTestFinished(() => stringify.mockRestore())
  const texts = new Set<string>()
  const decoders = { identity: (bytes: Buffer) => bytes, br: brotliDecompressSync, gzip: gunzipSync }
  for (const coding of ['identity', 'br', 'gzip', 'identity', 'br', 'gzip'] as const) {
    const response = await http.open('GET', '/openapi.json', { headers: { 'accept-encoding': coding } })
    const bytes = Buffer.from(await response.arrayBuffer())
    expect([response.headers.get('content-encoding') ?? 'identity', bytes.length < 30_000]).toEqual([coding, coding !== 'identity'])
    texts.add(decoders[coding](bytes).toString())
  }
  expect([texts.size, stringify.mock.calls.length]).toEqual([1, 1])
})

test('what has payloads, errors or tokens is never compressed: its length would tell what repeats', () => {
  const { operations } = testApi(engine, {
    token: 'a-token-of-this-test',
    tokens: { list: () => [], create: never, revoke: never, audited: () => [] },
  })
  const compressed = operations.filter(({ compress }) => compress).map(({ id }) => id)
  expect(compressed.toSorted()).toEqual(['getQueue', 'history', 'info', 'listFlows', 'listQueues', 'metrics', 'stats'])
})

function never(): never {
  throw new Error('nothing is created or revoked here')
}
