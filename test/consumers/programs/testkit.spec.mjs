import { defineJob } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'

const greet = defineJob({ name: 'greet' })

let t
beforeEach(() => {
  t = createTestEngine()
})
afterEach(() => t[Symbol.asyncDispose]())

test('a greeting is sent an hour later', async () => {
  t.engine.work(greet.handler(({ data }) => `Hello, ${data.name}`))
  await t.engine.enqueue(greet, { name: 'Ada' }, { delay: '1h' })
  await t.drain() // nothing is due
  await t.expectEnqueued(greet, { data: { name: 'Ada' }, state: 'scheduled' })

  await t.clock.advance('1h')
  await t.expectEnqueued(greet, { output: expect.stringContaining('Ada') }, { count: 1 })
})
