// docs/platforms.md names what the binaries of the SQLite driver need. A new driver may need more.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './sources.ts'

const PREBUILDS = join(ROOT, 'packages/sqlite/node_modules/better-sqlite3/prebuilds')
const PAGE = readFileSync(join(ROOT, 'docs/platforms.md'), 'utf8')

test('the oldest glibc that the page names has all symbols of the binaries for Linux', () => {
  const newest = ['linux-x64', 'linux-arm64'].map((name) => {
    const binary = readFileSync(join(PREBUILDS, `${name}.node`), 'latin1')
    return Math.max(...[...binary.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor)))
  })
  expect([...PAGE.matchAll(/glibc 2\.(\d+)/g)].map(([, minor]) => Number(minor))).toContain(Math.max(...newest))
})

test('the page names each system that the driver has a binary for', () => {
  const names = readdirSync(PREBUILDS).map((file) => file.replace('.node', ''))
  const rows: Readonly<Record<string, RegExp>> = {
    'darwin-arm64': /macOS.*arm64/,
    'darwin-x64': /macOS/,
    'linux-arm64': /Linux arm64/,
    'linux-x64': /Linux x64/,
    'linuxmusl-arm64': /musl.*arm64/,
    'linuxmusl-x64': /musl.*x64/,
    'win32-arm64': /Windows.*arm64/,
    'win32-x64': /Windows.*x64/,
  }
  expect(names.toSorted()).toEqual(Object.keys(rows))
  for (const [name, pattern] of Object.entries(rows)) expect(PAGE, name).toMatch(pattern)
})
