import { sep } from 'node:path'
import { expect, test } from 'vitest'
import { childOf, forPeople, fromSystem, toSystem } from './filePath.ts'

const LATIN = Buffer.from([0x63, 0x61, 0x66, 0xe9])

test('UTF-8 names stay as they are', () => {
  expect(fromSystem(Buffer.from('naïve ☕'))).toBe('naïve ☕')
  expect(toSystem('naïve ☕')).toBe('naïve ☕')
  expect(childOf('/a', 'b')).toBe(`/a${sep}b`)
  expect(childOf(sep, 'b')).toBe(`${sep}b`)
})

test('other names survive JSON, also below another such folder', () => {
  const name = JSON.parse(JSON.stringify(fromSystem(LATIN)))
  expect(toSystem(name)).toEqual(LATIN)
  const child = childOf(childOf('/ä', name), 'ö')
  expect(toSystem(child)).toEqual(Buffer.concat([Buffer.from(`/ä${sep}`), LATIN, Buffer.from(`${sep}ö`)]))
})

test('people see paths relative to the root, and no control characters', () => {
  expect(forPeople(`/root${sep}a${sep}b`, '/root')).toBe(`a${sep}b`)
  expect(forPeople(`/rooted${sep}a`, '/root')).toBe(`/rooted${sep}a`)
  expect(forPeople('/a\n\x1b[31mb')).toBe('/a\\x0a\\x1b[31mb')
})
