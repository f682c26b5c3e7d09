import { expect, test } from 'vitest'
import { listForPrograms, textForPrograms } from './llms.ts'

const pages: Readonly<Record<string, string>> = {
  'README.md': '# It\n\nIt queues. More.\n',
  'docs/guide.md': '# A guide\n\nIt guides [you](../README.md#a) to `[x](../README.md)`. More.\n\n```md\n[y](../README.md)\n```\n',
  'docs/why/1.md': '# 1. Why\n\n**Context.** So.\n',
}
const read = (path: string) => pages[path] as string
const page = (path: string) => ({ label: path, path, within: [] })
const groups = [
  { name: 'Start', entries: [page('README.md'), page('samples')] },
  { name: 'Guides', entries: [page('docs/guide.md')] },
  { name: 'Proof', entries: [{ label: 'Why', path: 'docs/why', within: [page('docs/why/1.md')] }] },
]

test('llms.txt has the title, the address and the first sentence of each page', () => {
  expect(listForPrograms('# Docs of it\n\nThe docs. More.\n', groups, read)).toBe(`# Docs of it

> The docs.

## Start

- [It](/quick-start): It queues.

## Guides

- [A guide](/guide): It guides you to x.

## Proof

- [1. Why](/why/1): So.
`)
})

test('llms-full.txt has the text of the pages for users, with links that lead there', () => {
  const site = { paths: new Set(Object.keys(pages)), anchorsOf: () => new Set(['a']), repository: 'https://host.test/it' }
  expect(textForPrograms(groups, read, site)).toBe(`<!-- /quick-start -->

# It

It queues. More.

<!-- /guide -->

# A guide

It guides [you](/quick-start#a) to \`[x](../README.md)\`. More.

\`\`\`md
[y](../README.md)
\`\`\`
`)
})
