// apps/examples/batches, as docs/batches.md sends its readers there.
import { expect, test } from 'vitest'
import { perform } from './perform.ts'

test('a thousand jobs, some hundred at a time, each with an outcome of its own', async () => {
  const program = perform('batches/store.ts')
  const line = await program.said(/^999 results, 999 rows in \d+ inserts$/)
  const inserts = Number(/in (\d+) inserts/.exec(line)?.[1])
  expect(inserts).toBeGreaterThanOrEqual(10)
  expect(inserts).toBeLessThan(100)
  await program.said(/^999 completed, 1 failed: rejected$/)
  expect(await program.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^millrace error: job 'store' failed/) })
})

test('an async generator is enqueued as it is read, on from where it broke off; one without end in lists', async () => {
  const program = perform('batches/readings.ts')
  await program.said(/^SyntaxError: 2000 are committed$/)
  await program.said(/^1000 more, 3000 in all$/)
  await program.said(/^2000 of the sensor, 5000 in all$/)
  expect(await program.ended).toMatchObject({ code: 0, stderr: '' })
})
