// README.md stays short, docs/README.md lists every page, and no link of any page leads nowhere.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { readContents } from '../../apps/docs/src/contents.ts'
import { anchorsOf } from '../../apps/docs/src/markdown.ts'
import { ROOT } from './sources.ts'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const inside = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)
const readmes = ['packages', 'apps', 'apps/examples', 'clients'].flatMap((folder) =>
  readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}/README.md`),
)
const PAGES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...['docs', 'docs/reference', 'docs/migrate', 'docs/decisions', 'docs/history'].flatMap(inside),
  ...[...readmes, 'bench/README.md'].filter((path) => existsSync(join(ROOT, path))),
]

/** Without blocks and spans of code. */
const prose = (text: string) => text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '')

test('the README is at most 8 KiB', () => {
  expect(Buffer.byteLength(read('README.md'))).toBeLessThanOrEqual(8_192)
})

test('docs/README.md has each page of docs in exactly one group, and the groups are those of the site', () => {
  const groups = readContents()
  expect(groups.map(({ name }) => name)).toEqual(['Start', 'Concepts', 'Guides', 'Reference', 'Operate', 'Migrate', 'Proof'])
})

test.each(PAGES)('%s: each link leads to a file, and to a heading of it', (path) => {
  const links = [...prose(read(path)).matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].map(([, link = '']) => link)
  const broken = links.filter((link) => {
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? join(ROOT, path) : join(ROOT, dirname(path), file)
    if (!existsSync(target)) return true
    return anchor !== undefined && !(statSync(target).isFile() && anchorsOf(readFileSync(target, 'utf8')).has(anchor))
  })
  expect(broken).toEqual([])
})
