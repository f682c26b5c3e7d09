// apps/examples/limits, as docs/limits.md sends its readers there.
import { expect, test } from 'vitest'
import { perform } from './perform.ts'

test('keys take turns, and no limit is passed', async () => {
  const program = perform('limits/main.ts')
  const [, last] = await program
    .said(/^the last of the modest and the small was number (\d+) of 104 to start$/)
    .then((line) => /number (\d+)/.exec(line) ?? [])
  expect(Number(last)).toBeLessThan(20)
  await program.said(/^at most 4 ran together, and 2 of one customer$/)
  await program.said(/^the queue is told {"concurrencyLimit":4,"perKeyLimit":2}; 104 jobs are completed$/)
  await program.said(/^ann: ann 0, ann 1, ann 2, ann 3$/)
  await program.said(/^bob: bob 0, bob 1, bob 2, bob 3$/)
  await program.said(/^the oldest position: JOB_CANCELLED, JobDroppedError$/)
  await program.said(/^drawn: 3, 4$/)
  expect(await program.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^millrace warning: job 'apply' failed/) })
})
