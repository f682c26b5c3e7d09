/** A dashboard of two files, in place of the real one. */
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { DashboardFile, DashboardOptions } from '../dashboard/options.ts'

export const SCRIPT = `${'// a script\n'.repeat(100)}export const name = 'ü'\n`

const PAGE = `<!doctype html>
<meta name="base-path" content="{basePath}">
<script type="module" src="{basePath}/assets/index-1a2b3c.js"></script>
`

export function fileOf(text: string, change: Partial<DashboardFile> = {}): DashboardFile {
  const body = Buffer.from(text)
  return { type: 'text/plain; charset=utf-8', body, br: undefined, gzip: undefined, etag: '"e"', immutable: true, ...change }
}

export const FILES: ReadonlyMap<string, DashboardFile> = new Map([
  ['/index.html', fileOf(PAGE, { type: 'text/html; charset=utf-8', immutable: false })],
  [
    '/assets/index-1a2b3c.js',
    fileOf(SCRIPT, {
      type: 'text/javascript; charset=utf-8',
      br: brotliCompressSync(SCRIPT),
      gzip: gzipSync(SCRIPT),
      etag: '"1a2b3c"',
    }),
  ],
  ['/assets/fonts/icons.svg', fileOf('<svg/>', { type: 'image/svg+xml', etag: '"icons"', immutable: false })],
])

export const DASHBOARD: DashboardOptions = { files: FILES }
