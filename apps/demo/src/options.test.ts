import { expect, test } from 'vitest'
import { readOptions } from './options.ts'

test('reads a folder and a queue file', () => {
  expect(readOptions([])).toEqual({ folder: undefined, file: undefined, dashboard: true, help: false })
  expect(readOptions(['some/folder', '--file', 'q.db'])).toEqual({ folder: 'some/folder', file: 'q.db', dashboard: true, help: false })
  expect(readOptions(['--no-dashboard', 'folder'])).toMatchObject({ folder: 'folder', dashboard: false })
  expect(readOptions(['--', 'folder'])).toMatchObject({ folder: 'folder' })
  expect(readOptions(['--help'])).toMatchObject({ help: true })
})

test.each([
  [['--fast'], "unknown option '--fast'; see --help"],
  [['a', 'b'], 'one folder at a time, not 2; see --help'],
  [['--file'], "option '--file <value>' argument missing; see --help"],
  [['--file='], '--file needs the name of a file; see --help'],
])('refuses %j in one line', (args, message) => {
  expect(() => readOptions(args)).toThrow(expect.objectContaining({ name: 'CommandError', message }))
})
