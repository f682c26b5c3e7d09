// Within a test runner: vitest and jest both run this file.
import { defineJob, JobFailedError, MillraceError, openEngine } from '@millrace/engine'

const double = defineJob({ name: 'double' })
const bytes = defineJob({ name: 'bytes' })
const broken = defineJob({ name: 'broken', maxAttempts: 1 })
const greet = defineJob({ name: 'greet' })

let engine

beforeAll(async () => {
  engine = await openEngine({ file: `spec-${process.pid}.db` })
  engine.work([
    double.handler(async ({ data }) => data * 2),
    bytes.handler(({ data }) => data.reverse()),
    broken.handler(() => {
      throw new RangeError('too far')
    }),
    greet.thread(new URL('./thread-handler.js', import.meta.url), { threads: 1 }),
  ])
})

afterAll(() => engine.stop())

test('a job is done', async () => {
  const handle = await engine.enqueue(double, 21)
  expect(await handle.result()).toBe(42)
})

test('bytes stay bytes, dates are dates', async () => {
  const handle = await engine.enqueue(bytes, new Uint8Array([1, 2, 3]), { runAt: new Date(0) })
  const output = await handle.result()
  expect(output).toBeInstanceOf(Uint8Array)
  expect([...output]).toEqual([3, 2, 1])
  const job = await engine.get(handle.id)
  expect(job.runAt).toBeInstanceOf(Date)
})

test('errors are of their classes', async () => {
  const handle = await engine.enqueue(broken)
  const error = await handle.result().catch((thrown) => thrown)
  expect(error).toBeInstanceOf(JobFailedError)
  expect(error).toBeInstanceOf(MillraceError)
  expect(error).toBeInstanceOf(Error)
  expect(error.cause).toMatchObject({ name: 'RangeError', message: 'too far' })
})

test('threads and list find their files', async () => {
  const handle = await engine.enqueue(greet, { name: 'ann' })
  expect(await handle.result()).toMatchObject({ said: 'hello ann', isMainThread: false })
  const { jobs } = await engine.list({ name: 'greet' })
  expect(jobs).toHaveLength(1)
})
