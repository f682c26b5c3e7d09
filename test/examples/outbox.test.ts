// apps/examples/outbox, as its README says to run it.
import { expect, test } from 'vitest'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'

test('an order that is committed gets its receipt, one that is not gets none; killed in between, the next run sends it', async () => {
  const folder = temporaryFolder()
  const shop = (...args: string[]) => startProgram(new URL('../../apps/examples/outbox/shop.ts', import.meta.url), [folder, ...args])
  const killed = shop('crash')
  expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' })
  expect(killed.lines).toEqual(['not saved: CHECK constraint failed: total > 0'])

  const next = shop()
  expect(await next.ended).toMatchObject({ code: 0, stderr: '' })
  expect(next.lines.filter((line) => line.startsWith('receipt'))).toEqual([
    'receipt for order 1: 100',
    'receipt for order 2: 100',
    'receipt for order 3: 250',
  ])
})
