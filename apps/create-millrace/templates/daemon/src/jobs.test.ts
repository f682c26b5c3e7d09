import { createTestEngine } from '@millrace/testkit'
import { expect, onTestFinished, test } from 'vitest'
import * as jobs from './jobs.ts'

test('a mail is sent, and its job says to whom', async () => {
  const t = createTestEngine()
  onTestFinished(() => t[Symbol.asyncDispose]())
  t.engine.work(Object.values(jobs))
  const job = await t.engine.enqueue('send-mail', { to: 'ada@example.com' })
  await t.drain()
  expect(await job.result()).toBe('sent to ada@example.com')
  const { lines } = await t.engine.logs(job.id)
  expect(lines.map(({ message }) => message)).toEqual(['sending a mail to ada@example.com'])
})
