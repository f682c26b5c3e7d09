import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Scope } from '@millrace/core'
import type { Engine } from '@millrace/engine'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { openInThread } from '../../testkit/src/testing/inThread.ts'
import { eventStream, Frames } from './eventStream.ts'
import { BOUNDS } from './limits.ts'
import { Pace } from './pace.ts'
import { EVENT_DATA } from './schemas/observed.ts'
import { TOKEN, testApi } from './testing/api.ts'

let engine: Engine
let http: ReturnType<typeof testApi>
beforeEach(async () => {
  engine = openInThread()
  http = testApi(engine)
})
afterEach(() => engine.stop())

interface Told {
  readonly id: number
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks at is its own affair
  readonly data: any
}

/** What a browser's EventSource makes of the stream. */
class Source {
  readonly response: Response
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #text = ''
  heartbeats = 0
  /** The id that it would come back with. */
  lastId: string | undefined

  constructor(response: Response) {
    this.response = response
    this.#reader = (response.body as ReadableStream<Uint8Array>).getReader()
  }

  /** The next event; undefined at the end. */
  async next(): Promise<Told | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        if (block.startsWith(':')) this.heartbeats++
        const fields = Object.fromEntries(
          block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        )
        this.lastId = fields['id'] ?? this.lastId
        if (fields['data'] !== undefined)
          return { id: Number(fields['id']), event: fields['event'] as string, data: EVENT_DATA.parse(JSON.parse(fields['data'])) }
        continue
      }
      const { done, value } = await this.#reader.read()
      if (done) return undefined
      this.#text += this.#decoder.decode(value, { stream: true })
    }
  }

  async take(count: number): Promise<Told[]> {
    const told: Told[] = []
    while (told.length < count) told.push((await this.next()) as Told)
    return told
  }

  close(): Promise<void> {
    return this.#reader.cancel()
  }
}

const stillMay = async () => true

const open = async (query = '', headers: Record<string, string> = {}, signal?: AbortSignal) =>
  new Source(await http.open('GET', `/v1/events${query}`, { headers, ...(signal !== undefined && { signal }) }))

test('T6: events come with their ids, as they happen', async () => {
  const source = await open()
  expect(source.response.status).toBe(200)
  expect(source.response.headers.get('content-type')).toBe('text/event-stream')
  expect(source.response.headers.get('cache-control')).toBe('no-store')
  const { id } = await engine.enqueue('a', 1)
  expect(await source.next()).toMatchObject({
    id: 1,
    event: 'enqueued',
    data: { seq: 1, type: 'enqueued', jobId: id, name: 'a', queue: 'default', at: expect.stringMatching(/Z$/) },
  })
  await engine.cancel(id)
  expect(await source.next()).toMatchObject({ event: 'cancelled', data: { jobId: id } })
  await source.close()
})

test('events of queues and schedules come among them, and may be all that is asked for', async () => {
  await engine.queues.pause('default', { key: 'k' })
  await engine.enqueue('a', 1)
  await engine.schedules.upsert('s', { every: '1h', runImmediately: true }, { job: 'b', data: 1 })
  const source = await open('?types=queue.paused,schedule.fired')
  expect(await source.next()).toMatchObject({ id: 1, event: 'queue.paused', data: { seq: 1, queue: 'default', key: 'k' } })
  expect(await source.next()).toMatchObject({
    event: 'schedule.fired',
    data: { schedule: 's', tick: expect.stringMatching(/Z$/), jobId: expect.any(String) },
  })
  await source.close()
  expect((await http.send('GET', '/v1/events?types=queue-paused')).status).toBe(400)
})

test('who comes back with the last id misses none and has none twice, wherever it broke off', async () => {
  const jobs = 300
  const feeding = (async () => {
    for (let job = 0; job < jobs; job++) await engine.enqueue('a', job)
  })()
  const seen: number[] = []
  let last: number | undefined
  for (let round = 1; seen.length < jobs; round++) {
    const source = await open('?after=0', last === undefined ? {} : { 'last-event-id': `${last}` })
    for (let more = Math.min(round * 7, jobs - seen.length); more > 0; more--) {
      const { id } = (await source.next()) as Told
      seen.push(id)
      last = id
    }
    await source.close()
  }
  await feeding
  expect(seen).toEqual(Array.from({ length: jobs }, (_, index) => index + 1))
})

test('from now on: the reader has an id before anything happens, and comes back with it', async () => {
  await engine.enqueue('a', 1)
  const source = await open('?after=now&name=a')
  const first = source.next()
  while (source.lastId === undefined) await new Promise((resolve) => setImmediate(resolve))
  expect(source.lastId).toBe('1')
  await engine.enqueue('bystander', 1)
  const { id } = await engine.enqueue('a', 1)
  expect(await first).toMatchObject({ id: 3, data: { jobId: id } })
  await source.close()

  const quiet = await open('?after=now&name=a')
  const none = quiet.next()
  while (quiet.lastId === undefined) await new Promise((resolve) => setImmediate(resolve))
  expect(quiet.lastId).toBe('3')
  await quiet.close()
  expect(await none).toBeUndefined()
  await engine.enqueue('a', 1)
  const again = await open('?after=now&name=a', { 'last-event-id': '3' })
  expect(await again.next()).toMatchObject({ id: 4, event: 'enqueued' })
  await again.close()

  const { seq } = (await http.send('GET', '/v1/stats')).body
  const behind = await open(`?after=${seq}`)
  await engine.enqueue('a', 1)
  expect(await behind.next()).toMatchObject({ id: seq + 1 })
  await behind.close()
  for (const after of ['then', 'NOW', '-1', '1.5', ''])
    expect(await http.send('GET', `/v1/events?after=${after}`), after).toMatchObject({ status: 400, body: { code: 'VALIDATION' } })
})

test('from now on, of a journal without an event', async () => {
  const source = await open('?after=now')
  const first = source.next()
  while (source.lastId === undefined) await new Promise((resolve) => setImmediate(resolve))
  expect(source.lastId).toBe('0')
  await engine.enqueue('a', 1)
  expect(await first).toMatchObject({ id: 1, event: 'enqueued' })
  await source.close()
})

test('filters', async () => {
  const source = await open('?types=cancelled,failed&queue=q')
  await engine.enqueue('a', 1, { queue: 'q' })
  await engine.cancel((await engine.enqueue('a', 1)).id)
  const { id } = await engine.enqueue('a', 1, { queue: 'q' })
  await engine.cancel(id)
  expect(await source.next()).toMatchObject({ event: 'cancelled', data: { jobId: id } })
  await source.close()
  const one = await open(`?jobId=${id}`)
  expect((await one.take(2)).map(({ event }) => event)).toEqual(['enqueued', 'cancelled'])
  await one.close()
  for (const query of ['types=nope', 'types=', 'after=-1', 'after=x', 'jobId=nope', 'queue=a+b', 'nope=1'])
    expect((await http.send('GET', `/v1/events?${query}`)).status, query).toBe(400)
  expect((await http.send('GET', '/v1/events', { headers: { 'last-event-id': 'x' } })).status).toBe(400)
})

test('a stream that has nothing to tell says so, and its end is the end of its timer', async () => {
  const source = await open()
  const first = source.next()
  expect(http.clock.timers).toBe(1)
  http.clock.advance(15_000)
  http.clock.advance(15_000)
  await engine.enqueue('a', 1)
  await first
  expect(source.heartbeats).toBe(2)
  await source.close()
  expect(http.clock.timers).toBe(0)
})

test('its token is asked for with each heartbeat: where it is good no more, or may not read, or nobody can tell, it ends', async () => {
  const known = new Map<string, readonly Scope[] | Error>()
  const authenticate = async (token: string) => {
    const scopes = known.get(token)
    if (scopes instanceof Error) throw scopes
    return scopes && { name: token, scopes }
  }
  http = testApi(engine, { authenticate })
  const tokens = ['revoked', 'changed', 'untold', 'bystander']
  for (const token of tokens) known.set(token, ['read'])
  const sources = await Promise.all(tokens.map((token) => open('', { authorization: `Bearer ${token}` })))
  const next = sources.map((source) => source.next())
  http.clock.advance(15_000)
  known.delete('revoked')
  known.set('changed', ['admin'])
  known.set('untold', new Error('the store is down'))
  http.clock.advance(15_000)
  expect(await Promise.all(next.slice(0, 3))).toEqual([undefined, undefined, undefined])
  expect(http.clock.timers).toBe(1)
  await engine.enqueue('a', 1)
  expect(await next[3]).toMatchObject({ event: 'enqueued' })
  await sources[3]?.close()
})

test('an abort ends it, also while nothing happens', async () => {
  const aborting = new AbortController()
  const source = await open('', {}, aborting.signal)
  const next = source.next()
  aborting.abort()
  expect(await next).toBeUndefined()
  expect(http.clock.timers).toBe(0)
  const late = await open('', {}, AbortSignal.abort())
  expect(await late.next()).toBeUndefined()
})

test('the end of the engine ends it', async () => {
  const source = await open()
  const next = source.next()
  await engine.stop()
  expect(await next).toBeUndefined()
})

test('a reader that takes nothing holds what it was given and no more', async () => {
  let asked = 0
  const endless = {
    next: async () => ({
      done: false,
      value: { seq: ++asked, type: 'enqueued', jobId: 'j', queue: 'q', name: 'n', at: new Date(0), run: 0, attempt: 0 },
    }),
    take: () => [],
    return: async () => ({ done: true, value: undefined }),
  }
  const fake = { events: () => endless } as unknown as Engine
  let over = 0
  const options = {
    frames: new Frames(),
    pace: new Pace(),
    after: 0,
    filter: {},
    ends: [],
    clock: http.clock,
    stillMay,
    onChange: () => () => {},
    ended: () => over++,
  }
  const stream = eventStream(fake, options)
  const settled = async () => {
    for (let before = -1; before !== asked; ) {
      before = asked
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    return asked
  }
  const held = await settled()
  expect(held).toBeGreaterThan(100)
  expect(held).toBeLessThan(BOUNDS.streamBytes / 100)
  http.clock.advance(60_000)
  expect(await settled()).toBe(held)
  const source = new Source(new Response(stream))
  expect((await source.take(1_000)).map(({ id }) => id)).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1))
  expect(await settled()).toBeLessThan(1_000 + held + 10)
  await source.close()
  expect(over).toBe(1)
})

test('what the journal has forgotten is told as a gap, whose id is where it goes on', async () => {
  const items = [{ type: 'gap', after: 3, resumesAt: 42 }]
  const asked: unknown[] = []
  const events = {
    next: async () => ({ done: items.length === 0, value: items.shift() }),
    take: () => [],
    return: async () => ({ done: true, value: undefined }),
  }
  const follow = (options: unknown) => {
    asked.push(options)
    return events
  }
  const fake = { events: follow } as unknown as Engine
  const options = {
    frames: new Frames(),
    pace: new Pace(),
    after: 3,
    filter: { queue: 'q' },
    ends: [],
    clock: http.clock,
    stillMay,
    onChange: () => () => {},
    ended() {},
  }
  const source = new Source(new Response(eventStream(fake, options)))
  expect(await source.next()).toEqual({ id: 41, event: 'gap', data: { type: 'gap', after: 3, resumesAt: 42 } })
  expect(await source.next()).toBeUndefined()
  expect(asked).toEqual([{ after: 3, filter: { queue: 'q' } }])
  expect(http.clock.timers).toBe(0)
})

test('so many at a time, and no more; one that ends makes room', async () => {
  const tokens = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}-token-of-sixteen`)
  http = testApi(engine, { authenticate: (token) => ({ name: token, scopes: ['read'] }) })
  const openBy = async (index: number) => new Source(await http.open('GET', '/v1/events', { token: tokens[index] ?? '' }))
  const refusedBy = (index: number) => http.send('GET', '/v1/events', { token: tokens[index] ?? '' })
  const sources: Source[] = []
  for (const index of [0, 1, 2, 3]) {
    for (let stream = 0; stream < BOUNDS.streamsPerToken; stream++) sources.push(await openBy(index))
    if (index === 0) expect(await refusedBy(0)).toMatchObject({ status: 503, body: { detail: expect.stringContaining('of this token') } })
  }
  // As many as there are in all, of any token.
  expect(await refusedBy(4)).toMatchObject({ status: 503, body: { code: 'BUSY', detail: expect.stringContaining('256') } })
  await sources.shift()?.close()
  const next = await openBy(4)
  expect(next.response.status).toBe(200)
  await Promise.all([...sources, next].map((source) => source.close()))
})

test('over a socket: a client that goes away ends its stream', async () => {
  const server = createServer(getRequestListener(http.api.fetch, { overrideGlobalObjects: false }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const aborting = new AbortController()
  const response = await fetch(`http://127.0.0.1:${port}/v1/events`, {
    headers: { authorization: `Bearer ${TOKEN}` },
    signal: aborting.signal,
  })
  const source = new Source(response)
  await engine.enqueue('a', 1)
  expect(await source.next()).toMatchObject({ id: 1 })
  // One is of the stream; the other looks for what its client leaves unread.
  expect(http.clock.timers).toBe(2)
  const ended = new Promise<void>((resolve) => {
    const look = () => (http.clock.timers === 0 ? resolve() : setImmediate(look))
    look()
  })
  aborting.abort()
  await ended
  await new Promise((resolve) => server.close(resolve))
})

test('a server closes when a stop begins: streams end, and connections that are asked again and again', async () => {
  // Idle connections stay: it is not their timeout that ends them here.
  const server = createServer({ keepAliveTimeout: 0 }, getRequestListener(http.api.fetch, { overrideGlobalObjects: false }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const get = async (path: string) => {
    const [response] = await once(request({ port, path, agent, headers: { authorization: `Bearer ${TOKEN}` } }).end(), 'response')
    return response as IncomingMessage
  }
  const whole = async (response: IncomingMessage) => response.resume() && once(response, 'end')
  const streams = http.operations.filter(({ responses }) => responses[200]?.type === 'text/event-stream')
  expect(streams.length).toBeGreaterThan(0)
  const followed = await Promise.all(streams.map(({ path }) => get(path)))
  await whole(await get('/v1/stats'))

  engine.leaving.abort()
  const closed = new Promise((resolve) => server.close(resolve))
  await Promise.all(followed.map(whole))
  await closed
  expect(http.clock.timers).toBe(0)
  // It may have been on its way.
  const late = new Source(await http.open('GET', '/v1/events'))
  expect(await late.next()).toBeUndefined()
})

test('when a stop begins, each answer of HTTP/1 lets its connection go', async () => {
  const headerOf = async (env: unknown) => (await http.open('GET', '/v1/stats', { env })).headers.get('connection')
  const [first, second] = [{ incoming: { httpVersionMajor: 1 } }, { incoming: { httpVersionMajor: 2 } }]
  expect(await headerOf(first)).toBeNull()
  engine.leaving.abort()
  expect([await headerOf(first), await headerOf(second), await headerOf(undefined)]).toEqual(['close', null, null])
})

test('an event of a dispute has the job name that is disputed', () => {
  const event = { seq: 1, type: 'worker.disputed', at: '2026-11-18T11:06:40.000Z', worker: 'w', session: '2', name: 'mail' }
  expect(EVENT_DATA.parse(event)).toEqual(event)
})
