import { expect, test } from 'vitest'
import { chooseVersion, VERSIONS } from './versions.ts'

test.each([
  [[1, 1], 1],
  [[1, 9], 1],
  [[0, 1], 1],
] as const)('a client of %o is spoken to in version %i', (versions, chosen) => {
  expect(chooseVersion(versions)).toBe(chosen)
})

test.each([[[2, 9]], [[0, 0]], [[9, 1]]] as const)('a client of %o is refused', (versions) => {
  expect(() => chooseVersion(versions)).toThrow(
    expect.objectContaining({ code: 'VERSION_MISMATCH', message: expect.stringContaining(`the server ${VERSIONS[0]} to ${VERSIONS[1]}`) }),
  )
})
