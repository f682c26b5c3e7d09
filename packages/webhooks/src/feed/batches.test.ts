import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../testkit/src/testing/runs.ts'
import { batchesOf } from './batches.ts'

/** Pages of numbers, with a wait before each. */
async function* pagesOf(pages: readonly (readonly number[])[]): AsyncGenerator<number> {
  for (const page of pages) {
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    yield* page
  }
}

test('all of it, in its order, in batches that are neither empty nor too large', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.nat(), { maxLength: 9 }), { maxLength: 6 }),
      fc.integer({ min: 1, max: 5 }),
      async (pages, max) => {
        const batches: number[][] = []
        for await (const batch of batchesOf(pagesOf(pages), max)) batches.push(batch)
        expect(batches.flat()).toEqual(pages.flat())
        for (const batch of batches) expect(batch.length > 0 && batch.length <= max).toBe(true)
      },
    ),
    { numRuns: runs(100) },
  )
})

test('what is at hand comes together; what has yet to come is not waited for', async () => {
  const batches: number[][] = []
  for await (const batch of batchesOf(pagesOf([[1, 2, 3], [4]]), 10)) batches.push(batch)
  expect(batches).toEqual([[1, 2, 3], [4]])
})

test('a failure comes behind what was read before it', async () => {
  const failing = (async function* () {
    yield 1
    throw new Error('broken')
  })()
  const batches = batchesOf(failing, 10)
  expect(await batches.next()).toEqual({ done: false, value: [1] })
  await expect(batches.next()).rejects.toThrow('broken')
})
