import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ROW_PX, WINDOWED_FROM, windowOf } from './rows.ts'

test('a short list is drawn whole', () => {
  expect(windowOf(199, 3_000, 800)).toEqual({ from: 0, to: 199, abovePx: 0, belowPx: 0 })
})

test('a long list is drawn where it is seen, with some rows around', () => {
  expect(windowOf(5_000, 32_000, 800)).toEqual({ from: 988, to: 1_037, abovePx: 988 * ROW_PX, belowPx: 3_963 * ROW_PX })
  expect(windowOf(5_000, -400, 800)).toMatchObject({ from: 0, abovePx: 0 })
})

test('rows and gaps are always as high as the list, and what is seen is drawn', () => {
  const positions = fc.record({
    rows: fc.integer({ min: WINDOWED_FROM, max: 5_000 }),
    scrolled: fc.integer({ min: -10_000, max: 200_000 }),
    view: fc.integer({ min: 1, max: 4_000 }),
  })
  fc.assert(
    fc.property(positions, ({ rows, scrolled, view }) => {
      const { from, to, abovePx, belowPx } = windowOf(rows, scrolled, view)
      expect(abovePx + (to - from) * ROW_PX + belowPx).toBe(rows * ROW_PX)
      const seen = Math.floor((scrolled + view / 2) / ROW_PX)
      if (seen >= 0 && seen < rows) expect(seen >= from && seen < to).toBe(true)
    }),
  )
})
