// apps/examples/remote, as its README says to run it.
import { expect, test } from 'vitest'
import { type Program, startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'

/** `env` sets where they meet. */
const example = (at: string, name: string, ...args: string[]): Program =>
  startProgram(new URL(`../../apps/examples/remote/${name}.ts`, import.meta.url), args, ['env', `EXAMPLE_FOLDER=${at}`])

test('engine, worker and producer in processes of their own; one producer does not wait for the engine', async () => {
  const at = temporaryFolder()
  const early = example(at, 'produceAnyway', '2')
  const safe = await early.said(/^2 jobs are safe, the first is /)
  expect(await early.ended).toMatchObject({ code: 0 })

  const engine = example(at, 'engine')
  await engine.said(/^listening at unix:/)
  const worker = example(at, 'worker')
  await worker.said(/is ready$/)
  const producer = example(at, 'produce', '3')
  await Promise.all([0, 1, 2].map((number) => producer.said(new RegExp(`^${number} squared is ${number * number}$`))))
  expect(await producer.ended).toMatchObject({ code: 0, stderr: '' })

  const late = example(at, 'produceAnyway', '1')
  expect(await late.said(/^1 jobs are safe/)).not.toBe(safe)
  expect(await late.ended).toMatchObject({ code: 0 })
  // Three of the producer, two of the first one and one of the other that did not wait.
  await worker.saidLines(7)
  worker.child.kill('SIGINT')
  expect(await worker.ended).toMatchObject({ code: 0 })
  engine.child.kill('SIGINT')
  expect(await engine.ended).toMatchObject({ code: 0 })
})
