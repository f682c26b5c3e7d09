// What is hard to test without a clock of one's own: times, limits, crashes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestEngine } from '@millrace/testkit'
import { charge, placeOrder, receipt, report, startWorker } from './shop.ts'

test('a charge is tried again after 20, 40 and 80 seconds, and then has failed', async () => {
  await using t = createTestEngine({ now: new Date('2030-01-01T12:00:00Z') })
  const tried: string[] = []
  startWorker(t.engine, async () => {
    tried.push(t.clock.now().toISOString().slice(11, 19))
    throw new Error('the bank is closed')
  })

  const order = await placeOrder(t.engine, 'o-1', 500)
  await t.clock.advance('1h')

  assert.deepEqual(tried, ['12:00:00', '12:00:20', '12:01:00', '12:02:20'])
  await assert.rejects(order.result(), { code: 'JOB_FAILED', message: /the bank is closed/ })
  await t.expectEnqueued(receipt, {}, { count: 0 })
})

test('the nightly report, while clocks go forward and back', async () => {
  const nights = async (now: string) => {
    await using t = createTestEngine({ now: new Date(now) })
    const at: string[] = []
    t.engine.work(report.handler(() => void at.push(t.clock.now().toISOString())))
    await t.engine.schedules.upsert('nightly', { cron: '30 2 * * *', timezone: 'Europe/Berlin' }, { job: report, data: { of: 'sales' } })
    await t.clock.advance('3d')
    return at
  }

  assert.deepEqual(await nights('2030-03-29T12:00:00Z'), [
    '2030-03-30T01:30:00.000Z',
    '2030-03-31T01:00:00.000Z', // 02:30 is not shown that night: it fires as clocks go forward to 03:00
    '2030-04-01T00:30:00.000Z',
  ])
  assert.deepEqual(await nights('2030-10-25T12:00:00Z'), [
    '2030-10-26T00:30:00.000Z',
    '2030-10-27T00:30:00.000Z', // 02:30 is shown twice that night: it fires the first time
    '2030-10-28T01:30:00.000Z',
  ])
})

test('never more than two charges at once, and never fewer while some wait', async () => {
  await using t = createTestEngine()
  await t.engine.queues.configure('default', { concurrencyLimit: 2 })
  let running = 0
  const seen = new Set<number>()
  startWorker(t.engine, async () => {
    seen.add(++running)
    await t.clock.sleep('1m')
    running--
  })

  for (let order = 1; order <= 10; order++) await placeOrder(t.engine, `o-${order}`, 500)
  await t.clock.advance('4m')
  assert.equal(running, 2)
  await t.clock.advance('1m') // ten charges of a minute, two at a time
  await t.expectEnqueued(charge, { state: 'completed' }, { count: 10 })
  assert.equal(Math.max(...seen), 2)
})

test('a crash between commit and reply: the customer clicks again, and is charged once', async () => {
  await using t = createTestEngine()
  const charged: string[] = []
  startWorker(t.engine, async (order) => void charged.push(order))

  t.faults.loseReply()
  await assert.rejects(placeOrder(t.engine, 'o-1', 500), { code: 'COMMIT_UNKNOWN' })
  const again = await placeOrder(t.engine, 'o-1', 500)
  assert.equal(again.created, false)

  await t.clock.advance('1s') // every side without an answer repeats its call, the worker too
  assert.deepEqual(charged, ['o-1'])
})

test('a crash in the midst of a charge: it runs again, and the bank has to know the order', async () => {
  await using t = createTestEngine()
  const charged: string[] = []
  const slowBank = async (order: string) => {
    charged.push(order)
    await t.clock.sleep('10s')
  }
  startWorker(t.engine, slowBank)
  await placeOrder(t.engine, 'o-1', 500)
  await t.clock.advance('5s')

  await t.restart() // the process dies, and comes back
  startWorker(t.engine, slowBank)
  await t.clock.advance('10s')

  await t.expectEnqueued(charge, { state: 'completed', attempt: 2 })
  assert.deepEqual(charged, ['o-1', 'o-1'])
})

test('inline: what is enqueued has run by the time that enqueue resolves', async () => {
  await using t = createTestEngine({ mode: 'inline' })
  startWorker(t.engine, async () => {})
  const handle = await t.engine.enqueue(report, { of: 'sales' })
  await t.expectEnqueued(report, { state: 'completed' })
  assert.equal(await handle.result(), 'report of sales')
})
