import type { Delivery } from '@millrace/core'
import { expect, test } from 'vitest'
import { ManualClock } from '../../worker/src/testing/manualClock.ts'
import { Mailbox } from './mailbox.ts'
import { Queues } from './queues.ts'
import { FakePort, quiet } from './testing/fakePort.ts'

function draining() {
  const port = new FakePort()
  const clock = new ManualClock()
  const mailbox = new Mailbox(port)
  const deliver = ({ replies }: Delivery) => {
    for (const reply of replies) mailbox.answer(reply)
  }
  port.listen({ ...IDLE, deliver })
  const drained = new Queues(mailbox, clock).drain('mail', { timeout: 0 })
  let isOver = false
  const over = () => {
    isOver = true
  }
  drained.then(over, over)
  return { port, clock, drained, isOver: () => isOver }
}

const IDLE = { broken: () => {}, reopened: () => {}, lapsed: () => {}, ended: () => {} }

test('a drain without a timeout to wait takes the first answer of the engine: an empty queue is drained', async () => {
  const { port, clock, drained, isOver } = draining()
  await clock.advance(1_000)
  expect(isOver()).toBe(false)
  const replies = port.requests.map(({ id }) => ({ id, value: true }))
  port.deliver({ replies })
  await expect(drained).resolves.toBeUndefined()
})

test('a drain without a timeout to wait rejects if the first answer is not that the queue is empty', async () => {
  const { port, clock, drained, isOver } = draining()
  const refused = expect(drained).rejects.toMatchObject({ code: 'DRAIN_INCOMPLETE', queue: 'mail' })
  await quiet()
  expect(isOver()).toBe(false)
  port.reply(port.of('unwatch')[0]?.id as number, true)
  await clock.advance(0)
  await refused
  // The engine is told that nobody waits any more.
  expect(port.of('unwatch').map(({ command }) => command.request)).toEqual([0, port.of('drainQueue')[0]?.id])
})
