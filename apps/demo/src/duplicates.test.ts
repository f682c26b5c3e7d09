import { expect, test } from 'vitest'
import { findDuplicates } from './duplicates.ts'

const file = (path: string, sha256: string, size: number, inode?: string) => ({ path, sha256, size, inode })

test('groups files by content, the largest savings first', () => {
  const files = [file('d', 'y', 10), file('b', 'x', 7), file('c', 'y', 10), file('a', 'x', 7), file('e', 'x', 7), file('f', 'z', 99)]
  expect(findDuplicates(files)).toEqual([
    { size: 7, paths: ['a', 'b', 'e'], savings: 14 },
    { size: 10, paths: ['c', 'd'], savings: 10 },
  ])
})

test('equal savings go by path', () => {
  const files = [file('c', 'y', 5), file('d', 'y', 5), file('b', 'x', 5), file('a', 'x', 5)]
  expect(findDuplicates(files).map(({ paths }) => paths[0])).toEqual(['a', 'c'])
})

test('names of one inode are one copy', () => {
  expect(findDuplicates([file('a', 'x', 5, '1:2'), file('b', 'x', 5, '1:2')])).toEqual([])
  expect(findDuplicates([file('a', 'x', 5, '1:2'), file('b', 'x', 5, '1:2'), file('c', 'x', 5)])).toEqual([
    { size: 5, paths: ['a', 'b', 'c'], savings: 5 },
  ])
})

test('empty files save nothing', () => {
  expect(findDuplicates([file('a', 'empty', 0), file('b', 'empty', 0)])).toEqual([])
})
