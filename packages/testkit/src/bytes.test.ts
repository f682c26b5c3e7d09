// Bytes are what they are in an application: a Uint8Array of their own, and no Buffer of the driver.
import { defineJob } from '@millrace/worker'
import { expect, test } from 'vitest'
import { createTestEngine } from './index.ts'

test('bytes of data and of outputs come back as a Uint8Array', async () => {
  await using t = createTestEngine()
  const given = new Uint8Array([1, 0, 255])
  const copy = defineJob<Uint8Array, Uint8Array>({ name: 'copy' })
  const bystander = await t.engine.enqueue('bystander', 'text')
  let seen: unknown
  t.engine.work([
    copy.handler(({ data }) => {
      seen = data
      return data
    }),
  ])
  const handle = await t.engine.enqueue(copy, given)
  const output = await handle.result()
  for (const value of [seen, output, (await t.engine.get(handle.id))?.data]) expect(value).toStrictEqual(given)
  expect((await t.engine.get(bystander.id))?.data).toBe('text')
})
