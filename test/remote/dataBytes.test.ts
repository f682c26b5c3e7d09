/** `maxDataBytes` of the engine holds for whoever reaches it, however much a client would send. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Port } from '@millrace/core'
import { attach, type Engine, OptionRangeError, openEngine } from '@millrace/engine'
import { createHttp } from '@millrace/http'
import { type ConnectOptions, connect, defineJob, listen } from '@millrace/remote'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFile, temporaryFolder } from '../temporary.ts'
import { welcomed } from './rawClient.ts'
import { until } from './until.ts'

const MOST = 1_000
const FITS = 'x'.repeat(MOST - 2)
const OVER = 'x'.repeat(MOST - 1)
const MUCH = 2 ** 24
const TOKEN = 'token-of-the-tests'

const tooLarge = (option: string) => ({
  name: 'OptionRangeError',
  code: 'OPTION_RANGE',
  option,
  limit: MOST,
  message: expect.stringMatching(/at most 1000 are stored: keep large content elsewhere .*maxDataBytes of openEngine/),
})

async function engineOf(): Promise<Engine> {
  const engine = await openEngine({ file: ':memory:', maxDataBytes: MOST })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  return engine
}

async function far(engine: Engine, options?: ConnectOptions): Promise<Engine> {
  const server = await listen(engine, `unix:${join(temporaryFolder(), 'sock')}`)
  onTestFinished(() => server.close())
  const client = await connect(server.url, options)
  onTestFinished(() => client.stop({ timeout: 0 }))
  return client
}

/** Everything that stores data, by a client that would take more: each is refused, and what fits is taken. */
async function refusesAll(client: Engine, engine: Engine): Promise<void> {
  const bystander = await engine.enqueue('bystander', FITS)
  const before = (await engine.stats()).totals
  const calls = (data: string): readonly (readonly [option: string, call: () => Promise<unknown>])[] => [
    ['data', () => client.enqueue('a', data)],
    ['data', () => client.enqueueMany([{ job: 'a' }, { job: 'a', data }])],
    ['data', () => client.flow([{ ref: 'a', job: 'a', data }])],
    ['data', () => client.batch([{ job: 'a' }], { job: 'b', data })],
    ['data', () => client.schedules.upsert('s', { every: '1h' }, { job: 'a', data })],
    ['data', () => client.update(bystander.id, { data })],
    ['checkpoint', () => client.update(bystander.id, { checkpoint: data })],
  ]
  for (const [option, call] of calls(OVER)) {
    const error = await call().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(OptionRangeError)
    expect(error).toMatchObject(tooLarge(option))
  }
  expect((await engine.stats()).totals).toEqual(before)
  expect(await engine.schedules.get('s')).toBeUndefined()
  expect(await engine.get(bystander.id)).toMatchObject({ data: FITS, checkpoint: undefined })
  for (const [, call] of calls(FITS)) await call()
}

test.each([{ maxDataBytes: MUCH }, {}])('over a socket: %j', async (options) => {
  const engine = await engineOf()
  await refusesAll(await far(engine, options), engine)
})

test('from another thread', async () => {
  const engine = await engineOf()
  const thread = attach(engine.port(), { maxDataBytes: MUCH })
  onTestFinished(() => thread.stop({ timeout: 0 }))
  await refusesAll(thread, engine)
})

test('of a file that processes share: the owner’s, whoever opens it', async () => {
  const file = temporaryFile()
  const engine = await openEngine({ file, share: true, maxDataBytes: MOST })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  // As another process does that has opened it with more.
  const client = await connect(`unix:${file}-share/socket`, { maxDataBytes: MUCH })
  onTestFinished(() => client.stop({ timeout: 0 }))
  await refusesAll(client, engine)
})

test('over HTTP, in front of an engine in another process too', async () => {
  const engine = await engineOf()
  for (const behind of [engine, await far(engine, { maxDataBytes: MUCH })]) {
    const { fetch } = createHttp(behind, { token: TOKEN })
    const body = JSON.stringify({ job: 'a', data: OVER })
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` }
    const response = await fetch(new Request('http://localhost/v1/jobs', { method: 'POST', body, headers }))
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'OPTION_RANGE', option: 'data', limit: MOST }])
  }
})

test('a client’s own bound holds where it is the smaller one', async () => {
  const client = await far(await engineOf(), { maxDataBytes: 10 })
  await expect(client.enqueue('a', 'x'.repeat(9))).rejects.toMatchObject({ code: 'OPTION_RANGE', limit: 10 })
  await client.enqueue('a', 'x'.repeat(8))
})

test('what a handler returns, keeps or enqueues: the run fails for good, and says why', async () => {
  const engine = await engineOf()
  const client = await far(engine, { maxDataBytes: MUCH })
  const say = defineJob<string>({ name: 'say' })
  const kinds = ['output', 'checkpoint', 'data'] as const
  client.work(
    say.handler(async (job) => {
      if (job.data === 'output') return OVER
      if (job.data === 'checkpoint') await job.checkpoint(OVER)
      else job.enqueue('never', OVER)
      return 'not reached'
    }),
  )
  for (const kind of kinds) {
    const handle = await engine.enqueue(say, kind, { maxAttempts: 1 })
    await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { message: tooLarge(kind).message } })
  }
  expect((await engine.list({ name: 'never' })).jobs).toEqual([])
})

test('a worker that knows of no bound: the engine refuses the outcome, and the run fails for good', async () => {
  const engine = await engineOf()
  // As of a version that did not tell.
  const openPort = (): Port => {
    const port = engine.openPort()
    return {
      capabilities: port.capabilities,
      listen: (listener) => port.listen(listener),
      send: (requests) => port.send(requests),
      hold: (alive) => port.hold(alive),
      close: () => port.close(),
    }
  }
  const server = await listen({ openPort }, `unix:${join(temporaryFolder(), 'sock')}`)
  onTestFinished(() => server.close())
  const client = await connect(server.url, { maxDataBytes: MUCH })
  onTestFinished(() => client.stop({ timeout: 0 }))
  await refusesAll(client, engine)
  const tells = defineJob<string>({ name: 'tells' })
  client.work(
    tells.handler(async (job) => {
      if (job.data === 'output') return OVER
      if (job.data === 'checkpoint') await job.checkpoint(OVER)
      else job.enqueue('never', OVER)
      return 'fits'
    }),
  )
  for (const kind of ['output', 'checkpoint', 'data'] as const) {
    const handle = await engine.enqueue(tells, kind, { maxAttempts: kind === 'checkpoint' ? 1 : 5 })
    await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { message: tooLarge(kind).message } })
    expect(await engine.get(handle.id)).toMatchObject({ attempt: 1, output: undefined, checkpoint: undefined })
  }
  expect((await engine.list({ name: 'never' })).jobs).toEqual([])
})

test('clients are told in the welcome, and one that does not listen is refused all the same: that call, and no other', async () => {
  const engine = await engineOf()
  const server = await listen(engine, `unix:${join(temporaryFolder(), 'sock')}`)
  onTestFinished(() => server.close())
  const client = await welcomed(server.url)
  expect((await client.said('welcome')).limits.dataBytes).toBe(MOST)
  const commands = [FITS, OVER, FITS].map((text) => ({ op: 'enqueue', jobs: [{ name: 'a', data: `"${text}"` }] }) as const)
  client.send({ type: 'requests', requests: commands.map((command, index) => ({ id: index + 1, command })) })
  const replies = () => client.heard.flatMap((message) => (message.type === 'delivery' ? message.delivery.replies : []))
  await until(() => replies().length === 3)
  expect(replies().map(({ id, refusal }) => [id, refusal?.code, refusal?.details])).toEqual([
    [1, undefined, undefined],
    [2, 'OPTION_RANGE', { option: 'data', limit: MOST }],
    [3, undefined, undefined],
  ])
})

test('an entry of a journal that is larger than the engine stores goes to the refused ones, and holds up no other', async () => {
  const root = temporaryFolder()
  const url = `unix:${join(root, 'sock')}`
  const folder = join(root, 'journal')
  const producer = await connect(url, {
    journal: folder,
    maxDataBytes: MUCH,
    connectTimeout: 100,
    reconnect: { minDelay: 1, maxDelay: 20 },
  })
  onTestFinished(() => producer.stop({ timeout: 0 }))
  const handles = [await producer.enqueue('a', 1), await producer.enqueue('a', OVER), await producer.enqueue('a', 3)]
  const engine = await engineOf()
  const server = await listen(engine, url)
  onTestFinished(() => server.close())
  await expect(handles[1]?.result()).rejects.toMatchObject(tooLarge('data'))
  engine.work(defineJob<number>({ name: 'a' }).handler(({ data }) => data))
  expect(await Promise.all([handles[0]?.result(), handles[2]?.result()])).toEqual([1, 3])
  expect((await engine.stats()).totals.enqueued).toBe(2)
  const refused = readFileSync(join(folder, 'refused.ndjson'), 'utf8').trimEnd().split('\n')
  expect(refused.map((line) => JSON.parse(line))).toMatchObject([{ error: { code: 'OPTION_RANGE' }, jobs: [{ name: 'a', data: OVER }] }])
  // By now it has been told.
  await expect(producer.enqueue('a', OVER)).rejects.toMatchObject(tooLarge('data'))
})
