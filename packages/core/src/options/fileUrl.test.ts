// A `file:` URL is the path that Node makes of it.
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { OptionTypeError } from '../errors.ts'
import { withoutUrl } from './fileUrl.ts'

test.each(['file:///srv/jobs.db', 'file:///srv/a%20b/j%C3%B6bs%23.db', 'file:///srv/%25.db'])('%s', (url) => {
  expect(withoutUrl('file', new URL(url))).toBe(fileURLToPath(url))
})

test('of Windows', () => {
  expect(withoutUrl('file', new URL('file:///C:/queue/jobs.db'))).toBe('C:/queue/jobs.db')
})

test.each(['https://example.com/jobs.db', 'file://server/share/jobs.db', 'file:///srv/a%2Fb.db'])('%s is refused', (url) => {
  expect(() => withoutUrl('file', new URL(url))).toThrow(`file must be a path, or a file: URL of this machine, got "${url}"`)
})

test.each(['file:///srv/100%.db', 'file:///srv/%ff.db'])('%s is refused, and it says how to write it', (url) => {
  const refused = expect(() => withoutUrl('file', new URL(url)))
  refused.toThrow(OptionTypeError)
  refused.toThrow(`got "${new URL(url).pathname}": use pathToFileURL of node:url`)
})

test.each(['jobs.db', ':memory:', undefined, null, 1, {}])('%j is nothing to change', (value) => {
  expect(withoutUrl('file', value)).toBe(value)
})
