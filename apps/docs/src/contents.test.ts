import { describe, expect, test } from 'vitest'
import { ContentsError, checkGroups, groupsOf, pagesOf, readContents } from './contents.ts'

const entry = (path: string, within: readonly string[] = []) => ({
  label: path,
  path,
  within: within.map((name) => ({ label: name, path: name, within: [] })),
})

test('a section with a table is a group, and each row of the table an entry', () => {
  const page = `# Docs

- [a](a.md): not in a table

## Start

| page | read it when |
|---|---|
| [\`a\` and b](a.md#part) | you want [more](c.md) |
| [Samples](../samples) | x |

## Words

No table.
`
  expect(groupsOf(page, (label, link) => ({ label, path: link, within: [] }))).toEqual([
    {
      name: 'Start',
      entries: [
        { label: 'a and b', path: 'a.md#part', within: [] },
        { label: 'Samples', path: '../samples', within: [] },
      ],
    },
  ])
})

describe('each page is in exactly one group', () => {
  const groups = [
    { name: 'One', entries: [entry('docs/a.md'), entry('samples')] },
    { name: 'Two', entries: [entry('docs/folder', ['docs/folder/b.md'])] },
  ]

  test('pages of a folder count', () => {
    expect(() => checkGroups(groups, ['docs/a.md', 'docs/folder/b.md'])).not.toThrow()
    expect(pagesOf(groups).map(({ path }) => path)).toEqual(['docs/a.md', 'docs/folder/b.md'])
  })

  test('a page in no group is named', () => {
    const check = () => checkGroups(groups, ['docs/a.md', 'docs/c.md', 'docs/folder/b.md', 'docs/d.md'])
    expect(check).toThrow(ContentsError)
    expect(check).toThrow('no group of docs/README.md has a row for docs/c.md, docs/d.md: add one')
  })

  test('a page in two groups is named', () => {
    const twice = [...groups, { name: 'Three', entries: [entry('docs/folder/b.md')] }]
    expect(() => checkGroups(twice, ['docs/a.md', 'docs/folder/b.md'])).toThrow(
      'docs/README.md has more than one row for docs/folder/b.md: keep one',
    )
  })
})

test('the pages of this repository: those of docs, of its folders and of the root', () => {
  const paths = pagesOf(readContents()).map(({ path }) => path)
  expect(paths).toEqual(
    expect.arrayContaining(['README.md', 'SECURITY.md', 'docs/workers.md', 'docs/reference/work.md', 'docs/decisions/0012-ticks.md']),
  )
  expect(paths).not.toContain('docs/README.md')
})
