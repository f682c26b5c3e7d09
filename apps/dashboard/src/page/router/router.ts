/** The address that is shown now, and how it changes. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { type Address, href, readAddress } from './address.ts'

export interface Router {
  readonly address: ReadonlySignal<Address>
  /** Returns the whole address of a page, for links. */
  to(path: string, query?: Readonly<Record<string, string | undefined>>, params?: Readonly<Record<string, string>>): string
  /** Shows another page: a path of the page, without its mount. */
  go(path: string, query?: Readonly<Record<string, string | undefined>>, options?: { readonly replace?: boolean }): void
  /** Shows a path of the page with its query, as `href` writes it. */
  follow(to: string): void
  /** Loads a path of the page anew: nothing that was known before is left, as when somebody else logs in. */
  load(to: string): void
  /** Changes parts of the query in place; undefined removes one. */
  amend(changes: Readonly<Record<string, string | undefined>>): void
  /** Shows what links lead to without loading it anew. Links to paths that `knows` refuses are the browser's. */
  followLinks(knows: (path: string) => boolean): void
}

export function createRouter(window: Window, basePath: string): Router {
  const read = (): Address => readAddress(basePath, window.location.pathname, window.location.search) ?? { path: '/', query: {} }
  const address = signal(read())
  const show = (url: string, replace: boolean) => {
    window.history[replace ? 'replaceState' : 'pushState'](null, '', url)
    address.value = read()
  }
  window.addEventListener('popstate', () => {
    address.value = read()
  })
  return {
    address,
    to: (path, query, params) => basePath + href(path, query, params),
    go: (path, query, { replace = false } = {}) => show(basePath + href(path, query), replace),
    follow: (to) => show(basePath + to, false),
    load: (to) => window.location.assign(basePath + to),
    amend: (changes) => show(basePath + href(address.peek().path, { ...address.peek().query, ...changes }), true),
    followLinks(knows) {
      window.document.addEventListener('click', (event) => {
        const link = followed(event)
        if (link === undefined || link.origin !== window.location.origin) return
        const target = readAddress(basePath, link.pathname, link.search)
        if (target === undefined || !knows(target.path)) return
        event.preventDefault()
        const isOther = target.path !== address.peek().path
        show(link.href, false)
        if (isOther) window.scrollTo(0, 0)
      })
    },
  }
}

/** Returns the link that a click follows in this tab. */
function followed(event: MouseEvent): HTMLAnchorElement | undefined {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return undefined
  const link = (event.target as Element | null)?.closest('a[href]') as HTMLAnchorElement | null | undefined
  return link == null || link.target !== '' || link.hasAttribute('download') ? undefined : link
}
