// E10: what becomes of jobs whose process died. The attempt counts; at the last one the job fails with WorkerLostError.
import { JobFailedError, openEngine } from '@millrace/engine'
import { expect, test } from 'vitest'
import { auditFile } from '../../../packages/sqlite/src/testing/inspect.ts'
import { startProgram } from '../../program.ts'
import { temporaryFile } from '../../temporary.ts'
import { bystander, endless, poison } from './programs/deadlyJobs.ts'

const DEADLY = new URL('./programs/deadly.ts', import.meta.url)

test("E10: recovery 'immediate' runs a lost worker's job again at once, with the error of the lost attempt on record", async () => {
  const file = temporaryFile()
  const before = await openEngine({ file })
  const { id } = await before.enqueue(endless)
  await before.stop()
  const program = startProgram(DEADLY, [file, 'immediate'])
  await program.said(/^endless \S+ 1 1$/)
  await program.kill()

  await using engine = await openEngine({ file, recovery: 'immediate' })
  const runs: number[][] = []
  const done = new Promise((resolve) => engine.once('completed', resolve))
  engine.work([endless.handler(({ job }) => void runs.push([job.run, job.attempt]))])
  await done
  expect(runs).toEqual([[2, 2]])
  expect(await engine.get(id)).toMatchObject({
    state: 'completed',
    attempt: 2,
    attempts: [{ run: 1, attempt: 1, worker: 'deadly', error: { name: 'WorkerLostError' } }, { run: 2 }],
  })
})

test("E10: recovery 'backoff' lets a lost worker's job wait as after any failure", async () => {
  const file = temporaryFile()
  const before = await openEngine({ file })
  const handle = await before.enqueue(endless)
  await before.stop()
  const program = startProgram(DEADLY, [file, 'backoff'])
  await program.said(/^endless/)
  await program.kill()

  const at = Date.now()
  await using engine = await openEngine({ file, recovery: 'backoff' })
  const job = await engine.get(handle.id)
  expect(job).toMatchObject({ state: 'scheduled', attempt: 1, attempts: [{ error: { name: 'WorkerLostError' } }] })
  expect(job?.runAt.getTime()).toBeGreaterThanOrEqual(at + 3_600_000)
  const runs: number[] = []
  const done = new Promise((resolve) => engine.once('completed', resolve))
  engine.work([endless.handler(({ job }) => void runs.push(job.attempt))])
  await engine.runNow(handle.id)
  await done
  expect(runs).toEqual([2])
})

test('16, poison-pill-dead-after-3: a job that kills its process every time fails with WorkerLostError, and takes nobody with it', async () => {
  const file = temporaryFile()
  const before = await openEngine({ file })
  const deadly = await before.enqueue(poison)
  const others = await before.enqueueMany(Array.from({ length: 5 }, () => ({ job: bystander })))
  await before.stop()
  const runs: string[] = []
  for (let death = 1; death <= 3; death++) {
    const program = startProgram(DEADLY, [file, 'immediate'])
    expect((await program.ended).signal).toBe('SIGKILL')
    runs.push(...program.lines.filter((line) => line.startsWith('poison')))
  }
  expect(runs).toEqual([1, 2, 3].map((run) => `poison ${deadly.id} ${run} ${run}`))

  const engine = await openEngine({ file })
  const job = await engine.get(deadly.id)
  expect(job).toMatchObject({ state: 'failed', attempt: 3, maxAttempts: 3 })
  expect(job?.attempts.map(({ attempt, error }) => [attempt, error?.name])).toEqual(
    [1, 2, 3].map((attempt) => [attempt, 'WorkerLostError']),
  )
  const done = Promise.all(
    others.map(async ({ id }) => {
      if ((await engine.get(id))?.state !== 'completed') await new Promise((resolve) => engine.on('completed', resolve))
    }),
  )
  engine.work([bystander.handler(() => {}), poison.handler(() => 'never')])
  await done
  await engine.stop()
  const { problems, jobs } = auditFile(file)
  expect(problems).toEqual([])
  expect(jobs.map((row) => row.state)).toEqual(['failed', ...others.map(() => 'completed')])
})

test('16: at the last attempt there is no other: the waiting result is rejected with the WorkerLostError as its cause', async () => {
  const file = temporaryFile()
  const before = await openEngine({ file })
  await before.enqueue(endless, null, { maxAttempts: 1, idempotencyKey: 'k' })
  await before.stop()
  const program = startProgram(DEADLY, [file, 'backoff'])
  await program.said(/^endless/)
  await program.kill()
  await using engine = await openEngine({ file })
  const same = await engine.enqueue(endless, null, { idempotencyKey: 'k' })
  const error = await same.result().catch((thrown) => thrown)
  expect(error).toBeInstanceOf(JobFailedError)
  expect(error).toMatchObject({ jobId: same.id, attempt: 1, cause: { name: 'WorkerLostError' } })
})
