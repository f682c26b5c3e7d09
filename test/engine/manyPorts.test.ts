// More ports than the writer asks by itself: those that have been silent are heard all the same, and none is left out at the end.
import { join } from 'node:path'
import { attach, openEngine } from '@millrace/engine'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'

const PORTS = 40

test('silent ports are heard when they speak, beside one that never stops', async () => {
  const engine = await openEngine({ file: join(temporaryFolder(), 'jobs.db'), durability: 'normal' })
  const others = Array.from({ length: PORTS }, () => attach(engine.port()))
  let busy = true
  const flatOut = (async () => {
    for (let count = 0; ; count++) {
      if (!busy) return count
      await engine.enqueue('loud', count)
    }
  })()
  for (let round = 0; round < 3; round++) {
    for (const [index, other] of others.entries()) await other.enqueue('quiet', { round, index })
    await Promise.all(others.map((other, index) => other.enqueue('quiet', { round, index })))
  }
  busy = false
  const loud = await flatOut
  expect(loud).toBeGreaterThan(0)
  expect((await engine.stats()).states.waiting).toBe(loud + 6 * PORTS)
  await Promise.all(others.map((other) => other.stop()))
  await engine.stop()
})

test('what every port has said before the end is in the file', async () => {
  const file = join(temporaryFolder(), 'jobs.db')
  const engine = await openEngine({ file })
  const others = Array.from({ length: PORTS }, () => attach(engine.port()))
  const said = others.map((other, index) => other.enqueue('quiet', index))
  // The writer has them all before the question that the end is made of.
  await Promise.all([...said, engine.stop()])
  await using reopened = await openEngine({ file })
  expect((await reopened.stats()).states.waiting).toBe(PORTS)
})
