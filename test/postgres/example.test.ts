// apps/examples/postgres as its README runs it: two processes on one queue, of which one is killed.
import { expect } from 'vitest'
import { startProgram } from '../program.ts'
import { test } from './test.ts'

const PROGRAM = new URL('../../apps/examples/postgres/process.ts', import.meta.url)

test('two processes run the jobs of both, and the jobs of a killed owner run in the other one', async ({ durable: { url, schema } }) => {
  const within = ['env', `DATABASE_URL=${url}`, `EXAMPLE_SCHEMA=${schema}`]
  const owner = startProgram(PROGRAM, ['0'], within)
  await owner.said(/^this process owns the schema$/)
  // It enqueues, so that no job is lost that the killed one had yet to enqueue.
  const other = startProgram(PROGRAM, ['20'], within)
  expect(await other.said(/owns the schema$/)).toMatch(/^process \d+ owns the schema$/)
  // Two run there, two here, and the rest wait.
  await owner.said(/squared is/)
  await other.said(/squared is/)
  const done = () =>
    new Set([...owner.lines, ...other.lines].map((line) => /^(\d+) squared is/.exec(line)?.[1]).filter((n) => n !== undefined))
  await owner.kill()
  await expect.poll(() => [...done()].map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, number) => number))
})
