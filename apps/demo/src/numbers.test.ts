import { expect, test } from 'vitest'
import { bytes, counted, seconds } from './numbers.ts'

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1_000, '1.0 kB'],
  [99_940, '99.9 kB'],
  [99_960, '100 kB'],
  [999_499, '999 kB'],
  [999_500, '1.0 MB'],
  [5.3e15, '5.3 PB'],
])('%d bytes are %s', (value, text) => {
  expect(bytes(value)).toBe(text)
})

test('counts and times', () => {
  expect(counted(1, 'file')).toBe('1 file')
  expect(counted(12_345, 'file')).toBe('12,345 files')
  expect(counted(2, 'file or folder', 'files or folders')).toBe('2 files or folders')
  expect(seconds(1_240)).toBe('1.2 s')
  expect(seconds(1_234_567)).toBe('1,235 s')
})
