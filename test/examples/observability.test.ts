// apps/examples/observability, as docs/observability.md sends its readers there.
import { expect, test } from 'vitest'
import { perform } from './perform.ts'

test('what ran, how long, what was done, and what failed', async () => {
  const program = perform('observability/main.ts')
  await program.said(/^send: 110 runs, 90 completed, 20 failed$/)
  await program.said(/^send: waits \d+ ms at p50, runs \d+ ms at p50, \d+ at p99$/)
  await program.said(/^in the hour of .*:00:00\.000Z: 100 enqueued, \d+ completed, \d+ failed$/)
  await program.said(/^20 times RangeError, the last one: mailbox \d+ is full$/)
  await program.said(/^0 turns failed; the log has some bytes$/)
  expect(await program.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^millrace warning: job 'send' failed/) })
})
