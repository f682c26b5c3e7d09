import { createTestEngine } from '@millrace/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { report, sendMail } from './jobs.ts'
import { startSchedules, startWorker } from './worker.ts'

/** The real engine, in memory. Its clock moves only when the test moves it. */
function setUp() {
  const t = createTestEngine()
  onTestFinished(() => t[Symbol.asyncDispose]())
  return t
}

test('a mail that fails is sent again, after a pause', async () => {
  const t = setUp()
  const sent: string[] = []
  let calls = 0
  startWorker(t.engine, async (to) => {
    calls += 1
    if (calls === 1) throw new Error('the mail server is busy')
    sent.push(to)
  })
  const job = await t.engine.enqueue(sendMail, { to: 'ada@example.com' })
  await t.clock.advance('1m')
  await job.result()
  expect({ calls, sent }).toEqual({ calls: 2, sent: ['ada@example.com'] })
})

test('a mail that always fails has failed after five attempts', async () => {
  const t = setUp()
  startWorker(t.engine, async () => {
    throw new Error('no such address')
  })
  const job = await t.engine.enqueue(sendMail, { to: 'nobody@example.com' })
  await t.clock.advance('1h')
  await expect(job.result()).rejects.toMatchObject({ code: 'JOB_FAILED', cause: { message: 'no such address' } })
  await t.expectEnqueued(sendMail, { state: 'failed' }, { count: 1 })
})

test('the report runs each minute', async () => {
  const t = setUp()
  startWorker(t.engine, async () => {})
  await startSchedules(t.engine)
  await t.clock.advance('3m')
  await t.expectEnqueued(report, { state: 'completed' }, { count: 3 })
})
