/** The links of pages lead to other pages of the site, or to files in the repository. */
import { statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { HOME } from './contents.ts'
import { ROOT } from './root.ts'

export interface Site {
  /** The pages by their path from the root of the repository. */
  readonly paths: ReadonlySet<string>
  /** Returns the anchors of one of the pages. */
  readonly anchorsOf: (path: string) => ReadonlySet<string>
  /** The address of the repository. */
  readonly repository: string
}

class DeadLinkError extends Error {
  override readonly name = 'DeadLinkError'
}

/** Returns the place of a page on the site, such as `workers` for `docs/workers.md`. */
export function placeOf(path: string): string {
  if (path === HOME) return 'index'
  if (path === 'README.md') return 'quick-start'
  return path.startsWith('docs/') ? path.slice('docs/'.length).replace(/\.md$/, '') : path.toLowerCase().replace(/\.md$/, '')
}

/** Returns the address of a page from the root of the site, such as `/workers`. */
export const addressOf = (path: string): string => `/${placeOf(path).replace(/^index$/, '')}`

/** Returns where a link leads that stands on a page, and fails if nothing is there. Addresses and anchors of the same page stay. */
export function targetOf(link: string, from: string, { paths, anchorsOf, repository }: Site): string {
  if (/^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(link)) return link
  const [file = '', anchor] = link.split('#')
  const path = file === '' ? from : posix.join(posix.dirname(from), file).replace(/\/$/, '')
  if (paths.has(path) && anchor !== undefined && !anchorsOf(path).has(decodeURI(anchor)))
    throw new DeadLinkError(`${from} links to ${link}, and ${path} has no such heading: correct the link, or the heading`)
  if (file === '') return link
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (paths.has(path)) return `${addressOf(path)}${hash}`
  const found = statSync(join(ROOT, path), { throwIfNoEntry: false })
  if (found === undefined) throw new DeadLinkError(`${from} links to ${link}, which is not there: correct the link, or add the file`)
  return `${repository}/${found.isDirectory() ? 'tree' : 'blob'}/main/${path}${hash}`
}
