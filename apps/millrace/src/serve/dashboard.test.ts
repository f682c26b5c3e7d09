import { describe, expect, test } from 'vitest'
import { FILES } from '../../../../packages/http/src/testing/dashboard.ts'
import { SCHEMA } from '../config/schema/schema.ts'
import { filesOf, forBrowser } from './dashboard.ts'

describe('files', () => {
  const errors: unknown[] = []
  const logger = { debug() {}, info() {}, warn() {}, error: (message: string, fields?: object) => void errors.push([message, fields]) }
  const refuse = () => Promise.reject(new Error('EROFS: read-only file system'))

  test('are loaded unless the dashboard or HTTP is off', async () => {
    expect(await filesOf(SCHEMA.parse({}).http, async () => FILES, logger)).toBe(FILES)
    for (const http of [{ enabled: false }, { dashboard: { enabled: false } }])
      expect(await filesOf(SCHEMA.parse({ http }).http, refuse, logger)).toBeUndefined()
    expect(errors).toEqual([])
  })

  test('that cannot be loaded leave a message in the log, and no dashboard', async () => {
    expect(await filesOf(SCHEMA.parse({}).http, refuse, logger)).toBeUndefined()
    expect(errors).toEqual([['cannot load the dashboard: serving without it', { error: 'EROFS: read-only file system' }]])
  })
})

test.each([
  ['http://0.0.0.0:7410', 'http://localhost:7410'],
  ['https://[::]:7410', 'https://localhost:7410'],
  ['http://127.0.0.1:7410', 'http://127.0.0.1:7410'],
  ['http://10.0.0.0:7410', 'http://10.0.0.0:7410'],
  ['http://[::1]:7410', 'http://[::1]:7410'],
])('a browser finds %s at %s', (url, address) => {
  expect(forBrowser(url)).toBe(address)
})
