// Retries of permanently failed jobs by their ids.
import { defineJob, type Engine, JobNotFoundError, openEngine } from '@millrace/engine'
import { Command } from 'commander'
import { expect, onTestFinished, test } from 'vitest'
import { exitCodeOf } from '../../exit.ts'
import type { Context } from '../context.ts'
import { addDlq } from './dlq.ts'

/** Returns an engine with a failed job, and its id. */
async function failed(): Promise<{ readonly engine: Engine; readonly id: string }> {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  const { id } = await engine.enqueue('mail', null, { maxAttempts: 1 })
  const worker = engine.work([
    defineJob({ name: 'mail' }).handler(() => {
      throw new Error('no')
    }),
  ])
  for await (const event of engine.events({ after: 0 })) if (event.type === 'failed') break
  await worker.stop()
  return { engine, id }
}

async function retry(engine: Engine, ...ids: readonly string[]): Promise<unknown> {
  const answers: unknown[] = []
  const program = new Command()
  const out = { answer: async (value: unknown) => void answers.push(value) }
  addDlq(program, { connect: async () => engine, out } as unknown as Context)
  await program.parseAsync(['dlq', 'retry', ...ids], { from: 'user' })
  return answers[0]
}

test('an id that no job has is not found, and nothing is retried', async () => {
  const { engine, id } = await failed()
  for (const missing of ['nosuchid', '01a1ff30-1a62-7000-8000-0000061600c4']) {
    await expect(retry(engine, id, missing)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND', jobId: missing })
    expect((await engine.get(id))?.state).toBe('failed')
  }
  expect(exitCodeOf(new JobNotFoundError())).toBe(3)
  expect(await retry(engine, id)).toMatchObject({ count: 1, matched: 1 })
  expect((await engine.get(id))?.state).toBe('waiting')
})
