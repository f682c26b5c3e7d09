import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { type DashboardFile, dashboardFiles } from './dashboardFiles.ts'

const KB = 1_024
let files: ReadonlyMap<string, DashboardFile>
let page: string

beforeAll(async () => {
  files = await dashboardFiles()
  page = Buffer.from(files.get('/index.html')?.body ?? []).toString()
})

const named = (pattern: RegExp) => [...files].filter(([path]) => pattern.test(path))
const gzipBytes = (some: readonly (readonly [string, DashboardFile])[]) =>
  some.reduce((total, [, { gzip }]) => total + (gzip?.byteLength ?? Number.POSITIVE_INFINITY), 0)

/** The scripts with all that they import at once, whatever the bundler has put into files of their own. */
function loadedBy(paths: readonly string[], known = new Set<string>()): ReadonlySet<string> {
  for (const path of paths.filter((each) => !known.has(each))) {
    known.add(path)
    const text = Buffer.from(files.get(path)?.body ?? []).toString()
    const imported = [...text.matchAll(/(?:\bimport|\bfrom)\s*["']\.\/([\w.-]+\.js)["']/g)].map(([, name]) => `/assets/${name}`)
    loadedBy(imported, known)
  }
  return known
}

describe('the files', () => {
  test('are the page, which the server writes into, and assets that never change', () => {
    expect([...files.keys()].every((path) => path === '/index.html' || /^\/assets\/[\w.-]+-[\w-]{8}\.(?:js|css|svg)$/.test(path))).toBe(
      true,
    )
    expect(files.get('/index.html')).toMatchObject({ type: 'text/html; charset=utf-8', br: undefined, gzip: undefined, immutable: false })
    for (const [path, file] of named(/^\/assets/)) {
      expect(file, path).toMatchObject({ immutable: true, etag: expect.stringMatching(/^"[\w-]{22}"$/) })
      expect(gunzipSync(file.gzip as Uint8Array).equals(file.body), path).toBe(true)
      expect(brotliDecompressSync(file.br as Uint8Array).equals(file.body), path).toBe(true)
    }
  })

  test('that the page names are there, below the path that it is mounted at', () => {
    const addresses = [...page.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, address = '']) => address)
    expect(addresses.length).toBeGreaterThanOrEqual(3)
    for (const address of addresses) expect(files.has(address.replace(/^\{basePath\}/, '')), address).toBe(true)
    expect(addresses.every((address) => address.startsWith('{basePath}/assets/'))).toBe(true)
    expect(page).toContain('<meta name="base-path" content="{basePath}" />')
  })

  test('are the same at the next call', async () => {
    const again = await dashboardFiles()
    expect([...again].map(([path, { etag }]) => [path, etag])).toEqual([...files].map(([path, { etag }]) => [path, etag]))
  })
})

test('the page keeps to its policy: no scripts or styles within, no addresses elsewhere', () => {
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?:|data:/)
  for (const [path, { body }] of named(/\.css$/)) expect(Buffer.from(body).toString(), path).not.toMatch(/url\(|@import|https?:/)
})

describe('budgets, compressed', () => {
  test('the first load is at most 45 kB of scripts', () => {
    const first = [...loadedBy(named(/\/(?:index|Overview)-[\w-]{8}\.js$/).map(([path]) => path))]
    expect(first.length).toBeGreaterThanOrEqual(1)
    expect(gzipBytes([...files].filter(([path]) => first.includes(path)))).toBeLessThanOrEqual(45 * KB)
  })

  test('all scripts are at most 72 kB by Brotli', () => {
    const bytes = named(/\.js$/).reduce((total, [, { br }]) => total + (br?.byteLength ?? Number.POSITIVE_INFINITY), 0)
    expect(bytes).toBeLessThanOrEqual(72 * KB)
  })

  test('styles are at most 9 kB', () => {
    expect(named(/\.css$/)).toHaveLength(1)
    expect(gzipBytes(named(/\.css$/))).toBeLessThanOrEqual(9 * KB)
  })
})
