import { createTestEngine } from '@millrace/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { charge, placeOrder, receipt, startWorker } from './shop.ts'

test('an order is charged, and its receipt sent five minutes later', async () => {
  const t = createTestEngine()
  onTestFinished(() => t[Symbol.asyncDispose]())
  const charged: string[] = []
  startWorker(t.engine, async (order) => void charged.push(order))

  await placeOrder(t.engine, 'o-1', 500)
  await t.drain() // runs all that is due: the charge
  expect(charged).toEqual(['o-1'])
  await t.expectEnqueued(receipt, { data: { order: 'o-1' }, state: 'scheduled' })

  await t.clock.advance('5m')
  await t.expectEnqueued(receipt, { state: 'completed', output: expect.stringContaining('o-1') })
  await t.expectEnqueued(charge, { data: { cents: 500 } }, { count: 1 })
})
