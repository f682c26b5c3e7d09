/** The files of the page as a server answers them. */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { pageFolder } from './pageFolder.ts'

export interface DashboardFile {
  /** The content type. */
  readonly type: string
  readonly body: Uint8Array
  /** The body compressed by Brotli; undefined for the page itself, into which the server writes. */
  readonly br: Uint8Array | undefined
  /** The body compressed by gzip; undefined for the page itself. */
  readonly gzip: Uint8Array | undefined
  /** The entity tag, in its quotes. */
  readonly etag: string
  /** True if the name changes with the content: browsers may keep the file for ever. */
  readonly immutable: boolean
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * Returns the files by their path: `/index.html`, `/assets/index-1a2b3c.js`. In a checkout the page is built first, if its sources have
 * changed since it was built last.
 *
 * The server writes the path that it is mounted at in place of each `{basePath}` in `/index.html`: nothing for the root.
 */
export async function dashboardFiles(): Promise<ReadonlyMap<string, DashboardFile>> {
  const folder = await pageFolder()
  const paths = globSync('**/*.*', { cwd: folder }).filter((path) => TYPES[extname(path)] !== undefined)
  return new Map(paths.toSorted().map((path) => [`/${path.split(sep).join('/')}`, read(join(folder, path))]))
}

function read(file: string): DashboardFile {
  const body = readFileSync(file)
  return {
    type: TYPES[extname(file)] as string,
    body,
    br: compressed(`${file}.br`),
    gzip: compressed(`${file}.gz`),
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    immutable: extname(file) !== '.html',
  }
}

function compressed(file: string): Uint8Array | undefined {
  return existsSync(file) ? readFileSync(file) : undefined
}
