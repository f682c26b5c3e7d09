import { expect, test } from 'vitest'
import { addressOf, placeOf, targetOf } from './links.ts'

const site = {
  paths: new Set(['README.md', 'SECURITY.md', 'docs/README.md', 'docs/workers.md', 'docs/reference/work.md']),
  anchorsOf: () => new Set(['leases', 'install', 'operate', 'größe']),
  repository: 'https://host.test/it',
}

test.for([
  ['docs/README.md', 'index', '/'],
  ['README.md', 'quick-start', '/quick-start'],
  ['SECURITY.md', 'security', '/security'],
  ['docs/workers.md', 'workers', '/workers'],
  ['docs/reference/work.md', 'reference/work', '/reference/work'],
] as const)('%s is at %s', ([path, place, address]) => {
  expect([placeOf(path), addressOf(path)]).toEqual([place, address])
})

test.for([
  // To pages, from where they are on the host.
  ['workers.md', 'docs/README.md', '/workers'],
  ['workers.md#leases', 'docs/README.md', '/workers#leases'],
  ['../workers.md', 'docs/reference/work.md', '/workers'],
  ['reference/work.md', 'docs/workers.md', '/reference/work'],
  ['../README.md#install', 'docs/workers.md', '/quick-start#install'],
  ['README.md#operate', 'docs/workers.md', '/#operate'],
  ['docs/workers.md', 'README.md', '/workers'],
  // To files and folders of the repository.
  ['../package.json', 'docs/workers.md', 'https://host.test/it/blob/main/package.json'],
  ['../test/app/docs.test.ts', 'docs/workers.md', 'https://host.test/it/blob/main/test/app/docs.test.ts'],
  ['../../packages/', 'docs/reference/work.md', 'https://host.test/it/tree/main/packages'],
  ['bench/README.md#a', 'README.md', 'https://host.test/it/blob/main/bench/README.md#a'],
  // Elsewhere, and on the same page.
  ['https://a.test/b.md', 'README.md', 'https://a.test/b.md'],
  ['mailto:a@b.test', 'README.md', 'mailto:a@b.test'],
  ['#install', 'README.md', '#install'],
  ['#gr%C3%B6%C3%9Fe', 'README.md', '#gr%C3%B6%C3%9Fe'],
] as const)('%s on %s leads to %s', ([link, from, target]) => {
  expect(targetOf(link, from, site)).toBe(target)
})

test.for(['workers.md#lease', '#lease'])('%s, a heading that is not there, is an error', (link) => {
  expect(() => targetOf(link, 'docs/workers.md', site)).toThrow(
    `docs/workers.md links to ${link}, and docs/workers.md has no such heading: correct the link, or the heading`,
  )
})

test('a link to a file that is not there is an error, which names it', () => {
  expect(() => targetOf('../absent.ts', 'docs/workers.md', site)).toThrow('docs/workers.md links to ../absent.ts, which is not there')
})
