// apps/examples/retention, as docs/retention.md sends its readers there.
import { expect, test } from 'vitest'
import { perform } from './perform.ts'

test('a queue is drained, purged and forgotten', async () => {
  const program = perform('retention/main.ts')
  await program.said(/^while it drains: QUEUE_DRAINING$/)
  await program.said(/^drained: 20 jobs completed, 0 run, 20 would go$/)
  await program.said(/^forgotten: true$/)
  await program.said(/^queues left: customer-2$/)
  expect(await program.ended).toMatchObject({ code: 0, stderr: '' })
})
