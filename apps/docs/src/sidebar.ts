/** The lists of pages beside each page. */
import type { Entry, Group } from './contents.ts'
import { addressOf } from './links.ts'

/** An item of the sidebar, as VitePress takes it. */
export interface Item {
  readonly text: string
  readonly link: string
}

export interface Section {
  readonly text: string
  readonly items: Item[]
}

/** Returns the groups for all pages, and a list of its own for the pages of each folder: no page carries what is beside the others. */
export function sidebarOf(groups: readonly Group[], repository: string): Record<string, (Item | Section)[]> {
  const folders = groups.flatMap(({ entries }) => entries).filter(({ within }) => within.length > 0)
  const lists = folders.map(({ label, path, within }) => {
    const items = within.map((page) => itemOf(page, repository))
    return [
      `${addressOf(path)}/`,
      [
        { text: 'All documentation', link: '/' },
        { text: label, items },
      ],
    ] as const
  })
  const all = groups.map(({ name, entries }) => ({ text: name, items: entries.map((entry) => itemOf(entry, repository)) }))
  return { '/': all, ...Object.fromEntries(lists) }
}

function itemOf({ label, path, within }: Entry, repository: string): Item {
  if (path.endsWith('.md')) return { text: label, link: addressOf(path) }
  return { text: label, link: within[0] === undefined ? `${repository}/tree/main/${path}` : addressOf(within[0].path) }
}
