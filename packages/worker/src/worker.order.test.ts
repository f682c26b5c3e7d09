/** The order of the queues that a session serves. */
import { expect, test } from 'vitest'
import { defineJob } from './define.ts'
import { workbench } from './testing/workbench.ts'

const strict = { queues: ['urgent', 'low'], order: 'strict' } as const

/** The session as it attaches. */
async function attached(options: Parameters<typeof workbench>[1]) {
  const { calls, worker } = workbench(
    defineJob({ name: 'a' }).handler(() => {}),
    options,
  )
  worker.attach()
  await worker.ready
  return calls.of('attach')[0]?.session
}

test('says its order with each attach; a fair one says none', async () => {
  expect(await attached(strict)).toMatchObject(strict)
  expect(await attached({ queues: ['urgent', 'low'], order: 'fair' })).not.toHaveProperty('order')
})
