/** With a codec, the engine and its file hold nothing that can be read: callers and handlers see plain values all the same. */
import { readFileSync } from 'node:fs'
import { attach, type Codec, CodecError, defineJob, type MillraceEvent, openEngine, ValidationError } from '@millrace/engine'
import { connect, listen } from '@millrace/remote'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { expect, onTestFinished, test } from 'vitest'
import { aesGcm } from '../../apps/examples/privacy/aesGcm.ts'
import { tableRows } from '../../packages/sqlite/src/testing/inspect.ts'
import { temporaryFile, temporaryFolder } from '../temporary.ts'

const SECRET = 'Ada-Lovelace'
const keys = { a: Buffer.alloc(32, 'a'), b: Buffer.alloc(32, 'b') }
const codec = aesGcm({ current: 'a', keys })

const job = defineJob<unknown>({ name: 'job', maxAttempts: 3, backoff: { type: 'fixed', delay: 1 } })
const child = defineJob<unknown>({ name: 'child' })

async function open(options: { codec?: Codec; file?: string } = {}) {
  const { file = temporaryFile(), ...rest } = options
  const engine = await openEngine({ file, durability: 'normal', ...rest })
  onTestFinished(() => engine.stop())
  return { engine, file }
}

test('data, output, checkpoint, updates and the jobs of a run: plain on both sides, unreadable in the file', async () => {
  const { engine, file } = await open({ codec })
  const seen: unknown[] = []
  engine.work([
    job.handler(async ({ data, job: info, checkpoint, enqueue }) => {
      seen.push([data, info.checkpoint])
      if (info.attempt === 1) {
        await checkpoint({ half: SECRET })
        throw new Error('again')
      }
      enqueue(child, { of: SECRET }, { delay: '1h' })
      return { done: SECRET }
    }),
  ])
  const handle = await engine.enqueue(job, { to: SECRET })
  expect(await handle.result()).toEqual({ done: SECRET })
  expect(seen).toEqual([
    [{ to: SECRET }, undefined],
    [{ to: SECRET }, { half: SECRET }],
  ])
  expect(await engine.get(handle.id)).toMatchObject({ data: { to: SECRET }, output: { done: SECRET }, checkpoint: { half: SECRET } })
  expect(await engine.get(handle.id)).not.toHaveProperty('undecoded')
  const [waiting] = (await engine.list({ name: 'child' })).jobs
  expect(waiting?.data).toEqual({ of: SECRET })
  await engine.update(waiting?.id ?? '', { data: [SECRET], checkpoint: SECRET })
  expect(await engine.get(waiting?.id ?? '')).toMatchObject({ data: [SECRET], checkpoint: SECRET })
  const [bytes, nothing] = await engine.enqueueMany([{ job: child, data: new Uint8Array([1, 2]) }, { job: child }])
  expect((await engine.get(bytes?.id ?? ''))?.data).toEqual(new Uint8Array([1, 2]))
  expect((await engine.get(nothing?.id ?? ''))?.data).toBeUndefined()
  await engine.stop()
  expect(tableRows(file, 'job').length).toBe(4)
  expect(readFileSync(file).includes(SECRET)).toBe(false)
})

test('results of steps: plain for handlers and callers, the first time and later, unreadable in the file', async () => {
  const { engine, file } = await open({ codec })
  const seen: unknown[] = []
  engine.work([
    job.handler(async ({ step, sleep }) => {
      seen.push(await step('one', () => ({ secret: SECRET })))
      seen.push(await step('bytes', () => new Uint8Array([1, 2])))
      await sleep('short', 1)
      return 'done'
    }),
  ])
  const handle = await engine.enqueue(job)
  expect(await handle.result()).toBe('done')
  const values = [{ secret: SECRET }, new Uint8Array([1, 2])]
  expect(seen).toEqual([...values, ...values])
  expect((await engine.steps(handle.id)).steps.map(({ value }) => value)).toEqual([...values, undefined])
  await engine.stop()
  expect(tableRows(file, 'step').map(({ value }) => value instanceof Uint8Array)).toEqual([true, true, false])
  expect(readFileSync(file).includes(SECRET)).toBe(false)
  const other = await open({ file })
  const [first] = (await other.engine.steps(handle.id)).steps
  expect(first?.value).toBeInstanceOf(Uint8Array)
})

test('a unique key of the data is made before the codec, which writes other bytes each time', async () => {
  const { engine } = await open({ codec })
  const options = { unique: { by: ['to'] }, delay: '1h' } as const
  const first = await engine.enqueue(job, { to: SECRET, at: 1 }, options)
  expect(await engine.enqueue(job, { to: SECRET, at: 2 }, options)).toMatchObject({ id: first.id, created: false })
  expect((await engine.enqueue(job, { to: 'another' }, options)).created).toBe(true)
})

test('handlers on the thread pool get and return plain values', async () => {
  const { engine, file } = await open({ codec })
  const answer = defineJob<{ do: string; value?: number }>({ name: 'answer', maxAttempts: 2, backoff: { type: 'fixed', delay: 0 } })
  engine.work([answer.thread(new URL('./handlers/answer.ts', import.meta.url), { threads: 1 })])
  const square = await engine.enqueue(answer, { do: 'square', value: 12 })
  expect(await square.result()).toBe(144)
  const tell = await engine.enqueue(answer, { do: 'tell' })
  expect(await tell.result()).toEqual({ seen: 1 })
  expect((await engine.list({ name: 'child' })).jobs).toMatchObject([{ data: { from: tell.id } }])
  await engine.stop()
  for (const row of tableRows(file, 'job')) for (const what of ['data', 'output', 'checkpoint']) expect(typeof row[what]).not.toBe('string')
})

test('a schema sees plain data; a key matches whatever the bytes are', async () => {
  const { engine } = await open({ codec })
  const schema: StandardSchemaV1<number, number> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => (typeof value === 'number' ? { value } : { issues: [{ message: 'a number' }] }),
    },
  }
  const numbers = defineJob({ name: 'numbers', schema })
  await expect(engine.enqueue(numbers, 'x' as never)).rejects.toBeInstanceOf(ValidationError)
  const first = await engine.enqueue(numbers, 1, { idempotencyKey: 'k' })
  const second = await engine.enqueue(numbers, 1, { idempotencyKey: 'k' })
  expect([second.id, second.created]).toEqual([first.id, false])
})

test('what cannot be decoded fails at once, by name, and get shows it', async () => {
  const { engine, file } = await open({ codec })
  const handle = await engine.enqueue(job, { to: SECRET })
  const old = await engine.enqueue(child, 1)
  await engine.stop()
  // The key is gone.
  const { engine: later } = await open({ file, codec: aesGcm({ current: 'b', keys: { b: keys.b } }) })
  let calls = 0
  const events: MillraceEvent[] = []
  later.on('*', (event) => void events.push(event))
  later.work([job.handler(() => ++calls)])
  await expect(later.enqueue(job, 1).then((good) => good.result())).resolves.toBe(1)
  await expect(engineResult(later, handle.id)).resolves.toBe('failed')
  const failed = await later.get(handle.id)
  expect(failed).toMatchObject({ state: 'failed', attempt: 1, data: expect.any(Uint8Array), undecoded: ['data'] })
  expect(failed?.attempts).toMatchObject([{ error: { name: 'CodecError', message: expect.stringContaining("there is no key 'a'") } }])
  expect(calls).toBe(1)
  expect((await later.list({ name: 'child' })).jobs).toMatchObject([{ id: old.id, undecoded: ['data'] }])
  expect(events.some((event) => event.type === 'failed' && event.error === 'CodecError')).toBe(true)
})

test('an output that cannot be read back rejects with the job’s id', async () => {
  let broken = false
  const { engine } = await open({
    codec: {
      encode: codec.encode,
      decode: (bytes) => {
        if (broken) throw new Error('no')
        return codec.decode(bytes)
      },
    },
  })
  engine.work([job.handler(() => SECRET)])
  const handle = await engine.enqueue(job)
  await handle.result()
  broken = true
  await expect(handle.result()).rejects.toMatchObject({ code: 'CODEC', jobId: handle.id, retryable: false })
})

test('what cannot be encoded is not created, and an output that cannot be fails its job at once', async () => {
  const { engine } = await open({
    codec: {
      encode: (plain) => {
        if (Buffer.from(plain).includes('refuse')) throw new Error('refused')
        return codec.encode(plain)
      },
      decode: codec.decode,
    },
  })
  await expect(engine.enqueue(job, 'refuse')).rejects.toBeInstanceOf(CodecError)
  await expect(
    engine.enqueueMany([
      { job, data: 1 },
      { job, data: 'refuse' },
    ]),
  ).rejects.toBeInstanceOf(CodecError)
  expect((await engine.stats()).totals.enqueued).toBe(0)
  engine.work([job.handler(() => 'refuse')])
  const handle = await engine.enqueue(job, 1)
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { name: 'CodecError' } })
  expect((await engine.get(handle.id))?.attempt).toBe(1)
})

test('text from before there was a codec is read as it is', async () => {
  const { engine, file } = await open()
  const handle = await engine.enqueue(job, { to: SECRET })
  await engine.stop()
  const { engine: later } = await open({ file, codec })
  later.work([job.handler(({ data }) => data)])
  expect(await engineResult(later, handle.id)).toBe('completed')
  expect((await later.get(handle.id))?.output).toEqual({ to: SECRET })
})

test('other threads and other processes bring the codec along', async () => {
  const { engine } = await open({ codec })
  const server = await listen(engine, `unix:${temporaryFolder()}/run/q.sock`)
  onTestFinished(() => server.close())
  const far = await connect(server.url, { codec })
  onTestFinished(() => far.stop())
  const near = attach(engine.port(), { codec })
  onTestFinished(() => near.stop())
  far.work([job.handler(({ data }) => [data, 'far'])])
  const handle = await near.enqueue(job, SECRET)
  expect(await handle.result()).toEqual([SECRET, 'far'])
  expect((await engine.get(handle.id))?.output).toEqual([SECRET, 'far'])
  // Without it, there is nothing to read.
  const blind = await connect(server.url)
  onTestFinished(() => blind.stop())
  expect((await blind.get(handle.id))?.data).toBeInstanceOf(Uint8Array)
})

/** The state in which it ends. */
async function engineResult(engine: Awaited<ReturnType<typeof open>>['engine'], id: string): Promise<string | undefined> {
  for (;;) {
    const ended = new Promise((resolve) => engine.once('*', resolve))
    const state = (await engine.get(id))?.state
    if (state === 'completed' || state === 'failed') return state
    await ended
  }
}

test('redact sees what handlers on threads say', async () => {
  const engine = await openEngine({
    file: temporaryFile(),
    durability: 'normal',
    redact: ({ kind, message, fields }) => ({ message: `${kind}: ${message.length}`, ...(fields && { fields: {} }) }),
  })
  onTestFinished(() => engine.stop())
  const answer = defineJob<{ do: string }>({ name: 'answer', maxAttempts: 2, backoff: { type: 'fixed', delay: 0 } })
  engine.work([answer.thread(new URL('./handlers/answer.ts', import.meta.url), { threads: 1 })])
  const handle = await engine.enqueue(answer, { do: 'tell' })
  await handle.result()
  const told = await engine.get(handle.id)
  expect(told?.progressNote).toBe('progress: 4')
  expect(told?.attempts[0]).toMatchObject({ error: { name: 'TypeError', message: 'error: 5' }, logs: [{ message: 'log: 15', fields: {} }] })
  expect(told?.attempts[0]?.error?.stack).toBeUndefined()
})

test('what a flow, a schedule and an export carry', async () => {
  const { engine, file } = await open({ codec })
  const parents: unknown[] = []
  engine.work([
    job.handler(() => ({ done: SECRET })),
    child.handler(async ({ data, parents: of }) => {
      for await (const { output } of of()) parents.push(output)
      return data
    }),
  ])
  const { jobs } = await engine.flow([
    { ref: 'first', job, data: { to: SECRET } },
    { ref: 'second', job: child, data: [SECRET], dependsOn: ['first'] },
  ])
  expect(await jobs.second.result()).toEqual([SECRET])
  expect(parents).toEqual([{ done: SECRET }])
  await engine.schedules.upsert('s', { every: '1h' }, { job: child, data: { at: SECRET } })
  const handle = await engine.schedules.trigger('s')
  expect(await handle.result()).toEqual({ at: SECRET })
  expect(await engine.schedules.get('s')).toMatchObject({ data: { at: SECRET }, lastResult: { output: { at: SECRET } } })
  for await (const { jobs: ended } of engine.exports.read('e')) {
    expect(ended.map(({ output }) => output)).toEqual([{ done: SECRET }, [SECRET], { at: SECRET }])
    break
  }
  await engine.stop()
  expect(tableRows(file, 'schedule')).toHaveLength(1)
  expect(readFileSync(file).includes(SECRET)).toBe(false)
})
