/** Comparisons of large values, where most of the time of `expect` goes into a difference that is not there. */
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'

/** Fails as `expect(found).toEqual(expected)` does. Node looks first, in a tenth of the time: what it finds equal is equal to `expect` too. */
export function expectSame(found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) expect(found).toEqual(expected)
}

/** Fails as `expect(found).toStrictEqual(expected)` does. */
export function expectStrictlySame(found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) expect(found).toStrictEqual(expected)
}
