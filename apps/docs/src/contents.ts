/** The pages of the site in their groups. docs/README.md says both: each section is a group, each row of its table is a page. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { plainOf } from './markdown.ts'
import { ROOT, readPage } from './root.ts'

export const HOME = 'docs/README.md'

export interface Entry {
  readonly label: string
  /** From the root of the repository, such as `docs/workers.md`. */
  readonly path: string
  /** The pages of a folder. Empty for a page, and for a folder outside of docs/, which is a link to the repository. */
  readonly within: readonly Entry[]
}

export interface Group {
  readonly name: string
  readonly entries: readonly Entry[]
}

export class ContentsError extends Error {
  override readonly name = 'ContentsError'
}

/** Returns the groups, and fails unless each page of docs/ is in exactly one of them. */
export function readContents(): readonly Group[] {
  const groups = groupsOf(readPage(HOME), entryOf)
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name.replaceAll('\\', '/')}`)
  checkGroups(
    groups,
    docs.filter((path) => path.endsWith('.md') && path !== HOME),
  )
  return groups
}

/** Reads the sections of docs/README.md. A section without a table is no group. */
export function groupsOf(markdown: string, toEntry: (label: string, link: string) => Entry): Group[] {
  const sections = markdown.split(/^## /m).slice(1)
  const groups = sections.map((section) => ({
    name: section.slice(0, section.indexOf('\n')).trim(),
    entries: [...section.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\) \|/gm)].map(([, label = '', link = '']) => toEntry(plainOf(label), link)),
  }))
  return groups.filter(({ entries }) => entries.length > 0)
}

/** Fails unless each of the pages is in exactly one group, and no group names another page of docs/. */
export function checkGroups(groups: readonly Group[], pages: readonly string[]): void {
  const named = pagesOf(groups).map(({ path }) => path)
  const absent = pages.filter((path) => !named.includes(path))
  const doubled = named.filter((path, index) => named.indexOf(path) !== index)
  if (absent.length > 0) throw new ContentsError(`no group of ${HOME} has a row for ${absent.join(', ')}: add one`)
  if (doubled.length > 0) throw new ContentsError(`${HOME} has more than one row for ${doubled.join(', ')}: keep one`)
}

/** Returns every page of the groups, those of folders too, in order. */
export function pagesOf(groups: readonly Group[]): Entry[] {
  return groups.flatMap(({ entries }) => entries.flatMap((entry) => (isPage(entry) ? [entry] : entry.within)))
}

export const isPage = ({ path }: Entry): boolean => path.endsWith('.md')

function entryOf(label: string, link: string): Entry {
  const path = join('docs', link.replace(/#.*$/, '')).replaceAll('\\', '/')
  return { label, path, within: path.startsWith('docs/') && statSync(join(ROOT, path)).isDirectory() ? pagesIn(path) : [] }
}

function pagesIn(folder: string): Entry[] {
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.md'))
  return names.sort().map((name) => {
    const path = `${folder}/${name}`
    return { label: plainOf(/^# (.+)$/m.exec(readPage(path))?.[1] ?? name), path, within: [] }
  })
}
