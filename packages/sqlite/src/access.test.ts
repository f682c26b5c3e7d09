// Modes of the files: of new ones, and of those that an earlier version or somebody has made otherwise.
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FileAccess } from '@millrace/core'
import { beforeEach, expect, onTestFinished, type TestContext, test } from 'vitest'
import { openStore } from './open-store.ts'
import { storeOptions, temporaryFolder } from './testing/files.ts'

const NAMES = ['jobs.db', 'jobs.db-ballast', 'jobs.db-owner', 'jobs.db-owner.json', 'jobs.db-shm', 'jobs.db-wal']

beforeEach((context: TestContext) => {
  if (process.platform === 'win32') context.skip('Windows has no modes')
  const former = process.umask(0o022)
  onTestFinished(() => void process.umask(former))
})

function modesIn(folder: string): Record<string, string> {
  const modes = readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)] as const)
  return Object.fromEntries(modes)
}

const all = (mode: string) => Object.fromEntries(NAMES.map((name) => [name, mode]))

/** Opened, with everything beside it that there is; closed with the test. */
function opened(file: string, fileAccess?: FileAccess): readonly string[] {
  const warnings: string[] = []
  const store = openStore(storeOptions(file, { ballastBytes: 4_096, fileAccess, warn: (message) => warnings.push(message) }))
  onTestFinished(() => store.close())
  expect(store.care.restoreBallast()).toBe(true)
  return warnings
}

test.each<[FileAccess | undefined, number, string]>([
  [undefined, 0o022, '600'],
  [undefined, 0o000, '600'],
  ['owner', 0o000, '600'],
  ['group', 0o022, '660'],
  ['group', 0o077, '660'],
])('with fileAccess %s and the umask %i new files have mode %s', async (fileAccess, umask, mode) => {
  process.umask(umask)
  const folder = temporaryFolder()
  const file = join(folder, 'jobs.db')
  expect(opened(file, fileAccess)).toEqual([])
  expect(modesIn(folder)).toEqual(all(mode))
})

test('a backup has the mode of new files', async () => {
  const folder = temporaryFolder()
  for (const [fileAccess, mode] of [
    [undefined, '600'],
    ['group', '660'],
  ] as const) {
    const store = openStore(storeOptions(join(folder, `${mode}.db`), { fileAccess }))
    await store.care.backup(join(folder, `${mode}.copy`))
    store.close()
    expect(modesIn(folder)[`${mode}.copy`]).toBe(mode)
  }
})

/** As an earlier version has left it, under its umask. */
function loose(mode: number): string {
  const file = join(temporaryFolder(), 'jobs.db')
  const store = openStore(storeOptions(file, { ballastBytes: 4_096 }))
  store.care.restoreBallast()
  store.close()
  for (const name of readdirSync(dirname(file))) chmodSync(join(dirname(file), name), mode)
  return file
}

test.each([0o644, 0o664, 0o666])('files of mode %i are taken away from other users, and the logger hears of it', (mode) => {
  const file = loose(mode)
  const warnings = opened(file)
  expect(warnings).toEqual([`other users could read files of ${file}: their mode is 0600 now. fileAccess: 'group' lets their group in`])
  expect(modesIn(dirname(file))).toEqual(all('600'))
})

test.each([
  [0o640, '640'],
  [0o660, '660'],
])('a group that somebody has let in stays, new files take after it, and the logger hears of it', (mode, shown) => {
  const file = loose(mode)
  const warnings = opened(file)
  expect(warnings).toEqual([
    `the group of ${file} can read it, and so can stop its writer: set fileAccess to 'group' to keep that, or to 'owner' to end it`,
  ])
  expect(modesIn(dirname(file))).toEqual(all(shown))
})

test('fileAccess sets the modes of files that exist, without a word', () => {
  const file = loose(0o600)
  for (const [fileAccess, mode] of [
    ['group', '660'],
    ['owner', '600'],
  ] as const) {
    const warnings: string[] = []
    const store = openStore(storeOptions(file, { ballastBytes: 4_096, fileAccess, warn: (message) => warnings.push(message) }))
    expect([warnings, new Set(Object.values(modesIn(dirname(file))))]).toEqual([[], new Set([mode])])
    store.close()
  }
})

test.each(['-owner', '-owner.json', '-ballast', '-wal', '-shm', '-journal', '-new'])('a link in place of jobs.db%s is refused', (end) => {
  const folder = temporaryFolder()
  const [file, victim] = [join(folder, 'jobs.db'), join(folder, 'victim')]
  writeFileSync(victim, 'hello')
  symlinkSync('victim', `${file}${end}`)
  expect(() => opened(file)).toThrow(
    expect.objectContaining({
      code: 'NOT_WRITABLE',
      message: `cannot open ${file}: ${file}${end} is a symbolic link, and must be a plain file. Remove it`,
    }),
  )
  expect(readFileSync(victim, 'utf8')).toBe('hello')
  expect(existsSync(file)).toBe(false)
})

test('a link that appears while the engine runs is not followed', () => {
  const folder = temporaryFolder()
  const [file, victim] = [join(folder, 'jobs.db'), join(folder, 'victim')]
  writeFileSync(victim, 'hello')
  const store = openStore(storeOptions(file, { ballastBytes: 4_096 }))
  onTestFinished(() => store.close())
  symlinkSync('victim', `${file}-ballast`)
  expect(store.care.restoreBallast()).toBe(true)
  expect(readFileSync(victim, 'utf8')).toBe('hello')
  expect(statSync(`${file}-ballast`).size).toBe(4_096)
  store.care.releaseBallast()
  mkdirSync(`${file}-ballast`)
  expect(store.care.restoreBallast()).toBe(false)
})

test('files that root creates belong to the user of the database', ({ skip }) => {
  if (process.getuid?.() !== 0) skip('only root can give files away')
  const folder = temporaryFolder()
  const file = join(folder, 'jobs.db')
  writeFileSync(file, '')
  chownSync(file, 65_534, 65_534)
  opened(file)
  const owners = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).uid, statSync(join(folder, name)).gid])
  expect(owners.toSorted()).toEqual(NAMES.map((name) => [name, 65_534, 65_534]))
})
