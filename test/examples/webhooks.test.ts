// apps/examples/webhooks, as its README says to run it.
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { perform } from './perform.ts'

test('what is not signed is turned away, a webhook is taken the second time, and each shipped order is told', async () => {
  const program = perform('webhooks/main.ts', [temporaryFolder()])
  // The engine warns of the attempt that the receiver was too busy for.
  const warning = /^millrace warning: job 'http' failed at attempt 1 of 10 and is tried again: RetryAfterError: [^\n]*\n?$/
  expect(await program.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(warning) })
  expect(program.lines).toEqual([
    'a stranger: 401',
    'told: hello world (attempt 2)',
    'delivered: 200',
    'told: job.completed ship',
    'told: job.completed ship',
  ])
})
