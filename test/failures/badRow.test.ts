// 29: a row that cannot be understood is that job's trouble alone: no other job waits for it, and it can be seen and mended.
import { defineJob, openEngine } from '@millrace/engine'
import { expect, test } from 'vitest'
import { auditFile, tamper } from '../../packages/sqlite/src/testing/inspect.ts'
import { temporaryFile } from '../temporary.ts'

const a = defineJob({ name: 'a' })
const NO_JSON = '{"broken": '

/** Three jobs that wait, of which somebody has broken the second. */
async function threeJobs(column: string, value = NO_JSON) {
  const file = temporaryFile()
  const engine = await openEngine({ file })
  const handles = await engine.enqueueMany(
    [1, 2, 3].map((n) => ({ job: a, data: { n }, options: { tags: ['t'], maxAttempts: 3, idempotencyKey: `k${n}` } })),
  )
  await engine.stop()
  tamper(file, `UPDATE job SET ${column} = ? WHERE seq = 2`, value)
  return { file, ids: handles.map((handle) => handle.id) as [string, string, string] }
}

test('data that is no JSON: the job fails without retries, the others run; mended, it runs too', async () => {
  const { file, ids } = await threeJobs('data')
  const engine = await openEngine({ file })
  const ran: unknown[] = []
  const failed = new Promise((resolve) => engine.once('failed', resolve))
  const worker = engine.work([a.handler(({ data }) => void ran.push(data))], { concurrency: 1 })
  const handles = await Promise.all([1, 3].map((n) => engine.enqueue(a, null, { idempotencyKey: `k${n}` })))
  await Promise.all([failed, ...handles.map((handle) => handle.result())])
  expect(ran).toEqual([{ n: 1 }, { n: 3 }])
  // Seen as it is stored, alone and among others.
  const bad = await engine.get(ids[1])
  expect(bad).toMatchObject({ state: 'failed', attempt: 1, data: NO_JSON })
  expect(bad?.attempts).toMatchObject([{ error: { name: 'NonRetryableError', message: expect.stringContaining('not JSON') } }])
  expect((await engine.list()).jobs.map((job) => job.id)).toEqual([...ids].reverse())
  await worker.stop()
  await engine.retry(ids[1])
  await engine.update(ids[1], { data: { n: 2 } })
  const done = new Promise((resolve) => engine.once('completed', resolve))
  engine.work([a.handler(({ data }) => void ran.push(data))])
  await done
  expect(ran).toEqual([{ n: 1 }, { n: 3 }, { n: 2 }])
  await engine.stop()
  expect(auditFile(file).problems).toEqual([])
})

test.each(['checkpoint', 'progress', 'extras', 'policy'])('%s that is no JSON stops neither the engine nor the others', async (column) => {
  const { file, ids } = await threeJobs(column)
  const engine = await openEngine({ file })
  expect((await engine.list()).jobs.map((job) => job.id)).toEqual([...ids].reverse())
  expect(await engine.get(ids[1])).toMatchObject({ id: ids[1], state: 'waiting' })
  const ran: number[] = []
  const ended = new Promise<void>((resolve) => {
    let left = 3
    engine.on('*', ({ type }) => {
      if (type === 'completed' || type === 'failed') left--
      if (left === 0) resolve()
    })
  })
  engine.work([a.handler(({ data, job }) => void ran.push((data as { n: number }).n, ...(job.checkpoint === undefined ? [] : [0])))])
  await ended
  const states = await Promise.all(ids.map(async (id) => (await engine.get(id))?.state))
  // What it was to go on from cannot be read: to start anew would be wrong. All else has defaults.
  expect(states).toEqual(['completed', column === 'checkpoint' ? 'failed' : 'completed', 'completed'])
  expect((await engine.get(ids[1]))?.attempt).toBe(1)
  await engine.stop()
  expect(auditFile(file).problems).toEqual([])
})

test('output that is no JSON is shown as it is stored, and is no result', async () => {
  const file = temporaryFile()
  const engine = await openEngine({ file })
  engine.work([a.handler(() => 'output')])
  const handles = await Promise.all([1, 2].map((n) => engine.enqueue(a, n, { idempotencyKey: `k${n}` })))
  await Promise.all(handles.map((handle) => handle.result()))
  await engine.stop()
  tamper(file, 'UPDATE job SET output = ? WHERE seq = 2', NO_JSON)
  await using next = await openEngine({ file })
  expect((await next.list()).jobs.map((job) => job.output)).toEqual([NO_JSON, 'output'])
  const same = await next.enqueue(a, null, { idempotencyKey: 'k2' })
  await expect(same.result()).rejects.toMatchObject({ code: 'INTERNAL', message: expect.stringContaining(same.id) })
})

test('a running job that cannot be understood does not keep the file from being opened', async () => {
  const file = temporaryFile()
  const engine = await openEngine({ file })
  const entered = new Promise<void>((resolve) => {
    engine.work([a.handler(() => new Promise(() => resolve()))], { abortGrace: 0 })
  })
  const { id } = await engine.enqueue(a)
  await entered
  await engine.backup(`${file}.copy`)
  await engine.stop({ timeout: 0 })
  tamper(`${file}.copy`, 'UPDATE job SET policy = ?, extras = ?', NO_JSON, NO_JSON)
  await using copy = await openEngine({ file: `${file}.copy` })
  expect(await copy.get(id)).toMatchObject({ state: 'waiting', attempt: 1 })
})
