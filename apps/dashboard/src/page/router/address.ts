/** Addresses of the page: the path says the screen, the query says the rest of what is seen. */

export interface Address {
  /** Without the path that the page is mounted at: '/jobs/0199'. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

export type Params = Readonly<Record<string, string>>

/** Returns undefined for an address outside of the page's mount. */
export function readAddress(basePath: string, pathname: string, search: string): Address | undefined {
  if (pathname !== basePath && !pathname.startsWith(`${basePath}/`)) return undefined
  const path = pathname.slice(basePath.length).replace(/\/+$/, '') || '/'
  return { path, query: Object.fromEntries(new URLSearchParams(search)) }
}

/** Returns a path with its query; what is empty or undefined is left out. Parts of the path in braces are filled from `params`. */
export function href(path: string, query: Readonly<Record<string, string | undefined>> = {}, params: Params = {}): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '')
  return given.length === 0 ? filled : `${filled}?${new URLSearchParams(given)}`
}

/** Returns what fills the parts in braces: `/jobs/{id}` of `/jobs/0199` is `{ id: '0199' }`; undefined if the path is another one. */
export function match(pattern: string, path: string): Params | undefined {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [place, part] of wanted.entries()) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    const value = decoded(given[place] as string)
    if (value === undefined || (name === undefined ? value !== part : value === '')) return undefined
    if (name !== undefined) params[name] = value
  }
  return params
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** Returns the first entry of a table whose path is the one of the address. */
export function find<Entry extends { readonly path: string }>(
  table: readonly Entry[],
  path: string,
): { readonly entry: Entry; readonly params: Params } | undefined {
  for (const entry of table) {
    const params = match(entry.path, path)
    if (params !== undefined) return { entry, params }
  }
  return undefined
}
