import { expect, test } from 'vitest'
import { chooseVersion, VERSIONS } from './versions.ts'

test.each([
  [[1, 1], 1],
  [[1, 9], 1],
  [[0, 1], 1],
] as const)('a client of %o is spoken to in version %i', (versions, chosen) => {
  expect(chooseVersion(versions)).toBe(chosen)
})

test.each([
  ['an older client and a newer server', [1, 1], [1, 2], 1],
  ['a newer client and an older server', [1, 2], [1, 1], 1],
  ['two that both know the newer one', [1, 2], [1, 2], 2],
  ['two that meet in the middle', [2, 4], [1, 3], 3],
] as const)('%s speak the highest version of both', (_who, client, server, version) => {
  expect(chooseVersion(client, server)).toBe(version)
})

test.each([
  ['a client of the newer version alone', [2, 2], [1, 1]],
  ['a client that the server has left behind', [1, 1], [2, 3]],
] as const)('%s is refused', (_who, client, server) => {
  expect(() => chooseVersion(client, server)).toThrow(expect.objectContaining({ code: 'VERSION_MISMATCH' }))
})

test.each([[[2, 9]], [[0, 0]], [[9, 1]]] as const)('a client of %o is refused', (versions) => {
  expect(() => chooseVersion(versions)).toThrow(
    expect.objectContaining({ code: 'VERSION_MISMATCH', message: expect.stringContaining(`the server ${VERSIONS[0]} to ${VERSIONS[1]}`) }),
  )
})
