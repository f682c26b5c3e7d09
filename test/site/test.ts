/** `test` for the site of the docs: builds it once for a file of tests, as `pnpm run docs:build` does. */
import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import MiniSearch from 'minisearch'
import { SEARCH } from '../../apps/docs/src/search.ts'
import { test as base } from '../browser/test.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webp': 'image/webp',
}

class Site {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /** Returns the text of a file. */
  read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8')
  }

  /** Returns the addresses of all pages. */
  pages(): string[] {
    const names = globSync('**/*.html', { cwd: this.folder }).map((name) => name.replaceAll('\\', '/').replace(/\.html$/, ''))
    return names.filter((name) => name !== '404').map((name) => `/${name.replace(/^index$/, '')}`)
  }

  /** Returns the HTML of a page. */
  html(address: string): string {
    return this.read(address === '/' ? 'index.html' : `${address}.html`)
  }

  /** Answers as a host of files does, which finds `workers.html` for `/workers`. */
  answer(request: Request): Response {
    const path = decodeURIComponent(new URL(request.url).pathname)
    const file = [path, `${path}.html`, `${path}index.html`]
      .map((name) => join(this.folder, name))
      .find((name) => statSync(name, { throwIfNoEntry: false })?.isFile())
    if (file === undefined) return new Response('not found', { status: 404 })
    return new Response(readFileSync(file), { headers: { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' } })
  }
}

export const test = base
  .extend('builder', { scope: 'file' }, fileURLToPath(new URL('../../apps/docs/build.ts', import.meta.url)))

  // A build that fails does so for all tests, and is not tried again by each of them.
  .extend('built', { scope: 'file' }, async ({ builder }, { onCleanup }): Promise<Site | Error> => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-site-'))
    onCleanup(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
    try {
      await promisify(execFile)(process.execPath, [builder, folder], { maxBuffer: 1 << 26 })
      return new Site(folder)
    } catch (error) {
      return error as Error
    }
  })

  .extend('site', ({ built }) => {
    if (built instanceof Error) throw built
    return built
  })

  /** The index of the search, as the page of the site opens it. */
  .extend('index', async ({ site }) => {
    const [file = ''] = globSync('assets/chunks/@localSearchIndexroot*.js', { cwd: site.folder })
    const { default: json } = (await import(pathToFileURL(join(site.folder, file)).href)) as { readonly default: string }
    return MiniSearch.loadJSON(json, { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'], searchOptions: SEARCH })
  })
