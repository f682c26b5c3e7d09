import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { find, href, match, readAddress } from './address.ts'
import { errorLink, jobLink, jobsLink, queueLink } from './links.ts'

describe('an address', () => {
  test.each([
    ['', '/', '', { path: '/', query: {} }],
    ['', '/jobs', '?state=failed&q=a+b', { path: '/jobs', query: { state: 'failed', q: 'a b' } }],
    ['', '/jobs/', '', { path: '/jobs', query: {} }],
    ['/queue', '/queue', '', { path: '/', query: {} }],
    ['/queue', '/queue/', '', { path: '/', query: {} }],
    ['/queue', '/queue/jobs/x', '', { path: '/jobs/x', query: {} }],
    ['/queue', '/queues', '', undefined],
    ['/queue', '/other', '', undefined],
  ] as const)('mounted at "%s", %s%s', (basePath, pathname, search, address) => {
    expect(readAddress(basePath, pathname, search)).toEqual(address)
  })

  test('is what was written, with any query', () => {
    const text = fc.string({ minLength: 1, unit: 'binary' }).filter((value) => value.isWellFormed())
    fc.assert(
      fc.property(
        fc.dictionary(
          text.filter((name) => name !== '__proto__'),
          text,
        ),
        (query) => {
          const [path = '', search = ''] = href('/jobs', query).split('?')
          expect(readAddress('', path, search === '' ? '' : `?${search}`)).toEqual({ path: '/jobs', query: { ...query } })
        },
      ),
    )
  })
})

describe('a path', () => {
  test.each([
    ['/', '/', {}],
    ['/jobs', '/jobs', {}],
    ['/jobs', '/jobs/x', undefined],
    ['/jobs/{id}', '/jobs', undefined],
    ['/jobs/{id}', '/jobs/', undefined],
    ['/jobs/{id}', '/jobs/0199', { id: '0199' }],
    ['/queues/{name}', '/queues/a%2Fb%20c', { name: 'a/b c' }],
    ['/queues/{name}', '/queues/%E0%A4%A', undefined],
  ] as const)('%s matches %s', (pattern, path, params) => {
    expect(match(pattern, path)).toEqual(params)
  })

  test('has what it was made of, whatever that is', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: 'binary' }).filter((name) => name.isWellFormed()),
        (name) => {
          expect(match('/queues/{name}', queueLink(name))).toEqual({ name })
        },
      ),
    )
  })

  test('finds the first entry of a table', () => {
    const table = [{ path: '/' }, { path: '/jobs/{id}' }]
    expect(find(table, '/jobs/x')).toEqual({ entry: table[1], params: { id: 'x' } })
    expect(find(table, '/nowhere')).toBeUndefined()
  })
})

test('links to jobs write the terms as the query reads them', () => {
  expect(jobsLink()).toBe('/jobs')
  expect(jobsLink({ state: 'failed' })).toBe('/jobs?state=failed')
  const search = (link: string) => new URLSearchParams(link.split('?')[1]).get('q')
  expect(search(jobsLink({ queue: 'billing', name: 'charge', text: 'acme' }))).toBe('queue:billing name:charge acme')
  expect(search(jobsLink({ key: 'a "b" \\c' }))).toBe('key:"a \\"b\\" \\\\c"')
  expect(jobLink('a/b')).toBe('/jobs/a%2Fb')
  expect(errorLink('084e2abb')).toBe('/errors?group=084e2abb')
})
