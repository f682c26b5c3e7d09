/** Handlers in child processes, through the public interface. */
import { defineJob } from '@millrace/engine'
import { createTestEngine, type TestEngine } from '@millrace/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'

const answer = defineJob<{ do: string; value?: number }>({ name: 'answer', backoff: { type: 'fixed', delay: 0 }, maxAttempts: 2 })
const inProcesses = () => answer.childProcess(new URL('./handlers/answer.ts', import.meta.url), { processes: 1 })

let t: TestEngine

beforeEach(() => {
  t = createTestEngine()
})

afterEach(() => t[Symbol.asyncDispose]())

async function run(data: { do: string; value?: number }) {
  return (await t.engine.enqueue(answer, data)).result()
}

test('runs in another process, beside the handlers of this thread', async () => {
  const here = defineJob({ name: 'here' })
  t.engine.work([inProcesses(), here.handler(() => process.pid)])
  expect(await run({ do: 'square', value: 12 })).toBe(144)
  expect(await (await t.engine.enqueue(here)).result()).toBe(process.pid)
  expect(await t.engine.workers()).toMatchObject([
    { kind: 'inline', names: ['here'] },
    { kind: 'processes', names: ['answer'], maxConcurrency: 1 },
  ])
})

test('a process that dies fails its attempt, which is tried again in another; then the job has failed', async () => {
  t.engine.work(inProcesses())
  const handle = await t.engine.enqueue(answer, { do: 'exit' })
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED', attempt: 2, cause: { name: 'ChildProcessError' } })
  expect((await t.engine.get(handle.id))?.attempts).toHaveLength(2)
  expect(await run({ do: 'square', value: 5 })).toBe(25)
})

test('a handler that spins past its timeout and its grace is killed', async () => {
  const worker = t.engine.work(inProcesses(), { abortGrace: '5s' })
  // The process is up before it is made to spin.
  await run({ do: 'where' })
  const running = new Promise<void>((resolve) => t.engine.once('started', () => resolve()))
  const handle = await t.engine.enqueue(answer, { do: 'spin' }, { timeout: '1m', maxAttempts: 1 })
  await running
  await t.advance('65s')
  await expect(handle.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { name: 'JobTimeoutError' } })
  expect(await run({ do: 'square', value: 4 })).toBe(16)
  expect(worker.zombies).toBe(0)
})

test('a process ends with its worker, even by kill -9', async () => {
  const program = startProgram(new URL('programs/isolated.ts', import.meta.url), [temporaryFolder()])
  expect(await program.said(/^child \d+$/)).not.toBe(`child ${program.child.pid}`)
  program.child.kill('SIGKILL')
  // Both write to the same pipe, which is closed when both are gone.
  expect(await program.ended).toMatchObject({ signal: 'SIGKILL' })
})
