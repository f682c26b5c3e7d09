/** A producer whose server is away: what was answered is in the queue when the server is back, once and in order. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { type ConnectOptions, connect, defineJob, type Engine, type JobHandle, type ListenOptions, listen } from '@millrace/remote'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'

const HOUR = 3_600_000
const number = defineJob<number>({ name: 'number' })

function place() {
  const root = temporaryFolder()
  const url = `unix:${join(root, 'sock')}`
  const folder = join(root, 'journal')
  return {
    folder,
    files: () => readdirSync(folder).filter((name) => name.endsWith('.journal')),
    refused: () =>
      readFileSync(join(folder, 'refused.ndjson'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    async serve(options?: ListenOptions, prepare = (_engine: Engine) => {}) {
      const engine = await openEngine({ file: join(root, 'jobs.db'), durability: 'normal' })
      prepare(engine)
      const server = await listen(engine, url, options)
      const stop = async () => {
        await server.close()
        await engine.stop({ timeout: 0 })
      }
      onTestFinished(stop)
      return { engine, stop }
    },
    async produce(options?: ConnectOptions) {
      const engine = await connect(url, { journal: folder, reconnect: { minDelay: 1, maxDelay: 20 }, ...options })
      onTestFinished(() => engine.stop({ timeout: 0 }))
      return engine
    },
  }
}

/** Resolves when the engine has all that the producer was answered. */
async function told(engine: Engine, count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = async () => {
    const { states } = await engine.stats()
    if (Object.values(states).reduce((sum, some) => sum + some, 0) >= count) resolve()
  }
  engine.on('enqueued', () => void look().catch(() => {}))
  await look()
  await promise
}

const idsOf = (handles: readonly JobHandle[]) => handles.map(({ id }) => id)

test('N3: before there ever was a server: jobs are taken, and run in order when it comes, under the ids that were told', async () => {
  const { serve, produce, files } = place()
  const producer = await produce()
  const handles: JobHandle[] = []
  for (let index = 0; index < 20; index++) handles.push(await producer.enqueue(number, index))
  const result = handles[19]?.result()
  expect(files()).toHaveLength(1)
  const { engine } = await serve()
  const events: string[] = []
  engine.on('completed', ({ jobId }) => void events.push(jobId))
  const ran: [unknown, string][] = []
  engine.work(
    number.handler(({ data, job: { id } }) => {
      ran.push([data, id])
      return data
    }),
    { concurrency: 1 },
  )
  expect(await result).toBe(19)
  expect(ran).toEqual(handles.map(({ id }, index) => [index, id]))
  await engine.stats()
  expect(events).toEqual(idsOf(handles))
  for (const [index, { id }] of handles.entries()) {
    expect(await producer.get(id)).toMatchObject({ id, data: index, output: index, state: 'completed' })
  }
  expect((await producer.list()).jobs.map(({ id }) => id).toReversed()).toEqual(idsOf(handles))
  await producer.stop()
  expect(files()).toEqual([])
})

test('servers that go and come: what is taken meanwhile follows, and `result()` waits', async () => {
  const { serve, produce } = place()
  const first = await serve()
  const producer = await produce()
  const one = await producer.enqueue(number, 1)
  await told(first.engine, 1)
  await first.stop()
  const many = await producer.enqueueMany([2, 3].map((data) => ({ job: number, data })))
  const result = many[1]?.result()
  const { engine } = await serve()
  await told(engine, 3)
  const ran: unknown[] = []
  engine.work(
    number.handler(({ data }) => {
      ran.push(data)
      return data * 10
    }),
    { concurrency: 1 },
  )
  expect(await result).toBe(30)
  expect(await one.result()).toBe(10)
  expect(ran).toEqual([1, 2, 3])
})

/** Takes numbers below 10. */
const validate = (value: unknown) => (typeof value === 'number' && value < 10 ? { value } : { issues: [{ message: 'is too large' }] })
const small = defineJob({ name: 'small', schema: { '~standard': { version: 1, vendor: 'test', validate } } as const })

test('entries whose data the server knows to be wrong are refused when they arrive, and the others are taken', async () => {
  const { serve, produce, refused } = place()
  const producer = await produce()
  const handles: JobHandle[] = []
  for (const data of [1, 20, 3]) handles.push(await producer.enqueue('small', data))
  const pair = await producer.enqueueMany([
    { job: 'small', data: 4 },
    { job: 'small', data: 50 },
  ])
  const last = await producer.enqueue('small', 6)
  const results = [handles[1], ...pair].map((handle) => expect(handle?.result()).rejects.toMatchObject({ code: 'VALIDATION' }))
  const { engine } = await serve(undefined, (one) => one.checks.add([small]))
  await told(engine, 3)
  await Promise.all(results)
  expect((await engine.list()).jobs.map(({ data }) => data).toReversed()).toEqual([1, 3, 6])
  expect(refused()).toMatchObject([
    { id: handles[1]?.id, error: { code: 'VALIDATION', message: expect.stringContaining('is too large') }, jobs: [{ data: 20 }] },
    { id: pair[0]?.id, error: { code: 'VALIDATION', message: expect.stringContaining('jobs[1]: ') }, jobs: [{ data: 4 }, { data: 50 }] },
  ])
  engine.work(small.handler(({ data }) => data))
  expect(await last.result()).toBe(6)
})

test('a producer that knows the schema refuses the call, and writes nothing', async () => {
  const { produce, files } = place()
  const producer = await produce()
  producer.checks.add([small])
  await expect(producer.enqueue('small', 20)).rejects.toMatchObject({ code: 'VALIDATION' })
  expect(files()).toEqual([])
})

test('keys are matched when the engine hears of them; what it refuses goes to a file, whole calls at a time, and holds up nothing', async () => {
  const { serve, produce, refused } = place()
  const first = await serve()
  const bystander = await first.engine.enqueue(number, 0, { delay: '1h', unique: { key: 'taken' }, idempotencyKey: 'said' })
  const before = await first.engine.get(bystander.id)
  await first.stop()
  const producer = await produce()
  const said = await producer.enqueue(number, 1, { idempotencyKey: 'said' })
  const skipped = await producer.enqueue(number, 2, { unique: { key: 'taken', onConflict: 'skip' } })
  const conflicting = await producer.enqueueMany([
    { job: number, data: 3 },
    { job: number, data: 4, options: { unique: { key: 'taken', onConflict: 'error' } } },
  ])
  const last = await producer.enqueue(number, 5)
  const refusals = conflicting.map((handle) => expect(handle.result()).rejects.toMatchObject({ name: 'UniqueConflictError' }))
  const { engine } = await serve()
  await told(engine, 2)
  await Promise.all(refusals)
  const states = await Promise.all([said, skipped, ...conflicting, last].map(async ({ id }) => (await engine.get(id))?.data))
  expect(states).toEqual([undefined, undefined, undefined, undefined, 5])
  expect(refused()).toMatchObject([{ id: conflicting[0]?.id, error: { code: 'UNIQUE_CONFLICT' }, jobs: [{ data: 3 }, { data: 4 }] }])
  expect(await engine.get(bystander.id)).toEqual(before)
  engine.work(number.handler(({ data }) => data))
  await engine.runNow(bystander.id)
  expect(await Promise.all([said.result(), skipped.result(), last.result()])).toEqual([0, 0, 5])
})

test('delays count from the call; a job whose time ran out meanwhile fails, and never runs', async () => {
  const { serve, produce } = place()
  const producer = await produce()
  const late = await producer.enqueue(number, 1, { delay: '1h' })
  const expired = await producer.enqueue(number, 2, { ttl: 1 })
  const fine = await producer.enqueue(number, 3, { ttl: '1h' })
  const outcome = expect(expired.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { name: 'JobExpiredError' } })
  const { engine } = await serve()
  const ran: unknown[] = []
  engine.work(number.handler(({ data }) => void ran.push(data)))
  await outcome
  await fine.result()
  expect(ran).toEqual([3])
  const job = await engine.get(late.id)
  expect(job?.state).toBe('scheduled')
  expect(Number(job?.runAt) - Number(job?.enqueuedAt)).toBe(HOUR)
})

test('full: an error that says so, nothing of the call is kept, and there is room again when it was forwarded', async () => {
  const { serve, produce, folder } = place()
  const producer = await produce({ journal: { folder, maxBytes: 2 ** 20 } })
  const text = 'x'.repeat(300_000)
  const taken = await Promise.allSettled(Array.from({ length: 5 }, () => producer.enqueue('text', text)))
  expect(taken.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'])
  await expect(producer.enqueue('text', text)).rejects.toMatchObject({
    name: 'JournalFullError',
    code: 'JOURNAL_FULL',
    retryable: true,
    message: expect.stringContaining(`at most ${2 ** 20}`),
  })
  const { engine } = await serve()
  await told(engine, 3)
  const insist = async (): Promise<JobHandle> => {
    try {
      return await producer.enqueue('text', text)
    } catch {
      // The answer to what was forwarded is on its way.
      await producer.stats()
      return insist()
    }
  }
  await insist()
  await told(engine, 4)
  expect((await engine.stats()).states.waiting).toBe(4)
})

test('stopped while the server is away: at once, and the next process forwards', async () => {
  const { serve, produce, files } = place()
  const first = await produce()
  const handle = await first.enqueue(number, 1)
  const result = expect(handle.result()).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  await first.stop()
  await result
  await expect(first.enqueue(number, 2)).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  await expect(handle.result()).rejects.toMatchObject({ code: 'ENGINE_STOPPED' })
  expect(files()).toHaveLength(1)
  const { engine } = await serve()
  const second = await produce()
  await second.enqueue(number, 2)
  // With a server, it forwards first.
  await second.stop()
  expect(files()).toEqual([])
  expect((await engine.list()).jobs.map(({ data }) => data)).toEqual([2, 1])
  expect(await engine.get(handle.id)).toMatchObject({ data: 1 })
})

test('one process per folder, also within one process', async () => {
  const { produce } = place()
  const first = await produce()
  await expect(produce()).rejects.toMatchObject({ code: 'JOURNAL_IN_USE' })
  await first.stop()
  await produce()
})

test('a wrong token from the start: connect says so, and lets go of the folder', async () => {
  const { serve, produce } = place()
  const { stop } = await serve({ token: 'the token that is right' })
  await expect(produce({ token: 'the token that is wrong' })).rejects.toMatchObject({ code: 'AUTH_FAILED' })
  await stop()
  await produce()
})

test('a token that is wrong when the server comes: later calls and results say so, and the folder keeps all, for whoever opens it', async () => {
  const { serve, produce, files } = place()
  const first = await produce({ token: 'the token that is wrong' })
  const handle = await first.enqueue(number, 1)
  const result = expect(handle.result()).rejects.toMatchObject({ code: 'AUTH_FAILED' })
  const { engine } = await serve({ token: 'the token that is right' })
  await result
  await expect(first.enqueue(number, 2)).rejects.toMatchObject({ name: 'AuthFailedError' })
  await first.stop()
  expect(files()).toHaveLength(1)
  const second = await produce({ token: 'the token that is right' })
  await told(engine, 1)
  expect(await second.get(handle.id)).toMatchObject({ data: 1, state: 'waiting' })
})

test('a token that may not enqueue: people are told, nothing is lost, and to stop is not to wait', async () => {
  const { serve, produce, files, folder } = place()
  const token = 'a token for reading only'
  const first = await serve({ token: [{ token, scopes: ['read'] }] })
  const { promise: warned, resolve } = Promise.withResolvers<unknown>()
  const logger = { debug() {}, info() {}, warn: (_text: string, fields: unknown) => resolve(fields), error() {} }
  const producer = await produce({ token, logger })
  await producer.enqueue(number, 1)
  expect(await warned).toMatchObject({ code: 'FORBIDDEN' })
  await producer.stop()
  expect(files()).toHaveLength(1)
  expect((await first.engine.stats()).states.waiting).toBe(0)
  await first.stop()
  const { engine } = await serve()
  await (await produce()).stop()
  expect((await engine.stats()).states.waiting).toBe(1)
  expect(existsSync(join(folder, 'refused.ndjson'))).toBe(false)
})

test('a reserved key without the scope `admin` is refused alone, and the others are taken', async () => {
  const { serve, produce, refused } = place()
  const token = 'a token for producing'
  const { engine } = await serve({ token: [{ token, scopes: ['enqueue', 'read'] }] })
  const producer = await produce({ token })
  const [, reserved] = await Promise.all([
    producer.enqueue(number, 1),
    producer.enqueue(number, 2, { idempotencyKey: 'millrace:taken' }),
    producer.enqueue(number, 3),
  ])
  await expect(reserved?.result()).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await told(engine, 2)
  expect((await engine.list()).jobs.map(({ data }) => data).toReversed()).toEqual([1, 3])
  expect(refused()).toMatchObject([{ id: reserved?.id, error: { code: 'FORBIDDEN' }, jobs: [{ data: 2 }] }])
})
