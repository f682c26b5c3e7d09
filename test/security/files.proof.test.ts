// Attacks 1, 12 and 13: the files beside a queue, as other users of the machine find them, emptied, cut, and replaced by links.
import { spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Logger, openEngine } from '@millrace/engine'
import { beforeEach, describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import { attached, startDaemon } from '../app/daemon.ts'
import { temporaryFolder } from '../temporary.ts'

const NOBODY = 65_534
const QUEUE = ['', '-ballast', '-owner', '-owner.json', '-shm', '-wal'].map((end) => `millrace.db${end}`)
const DAEMON = ['-control', '-control-shm', '-control-wal', '-token'].map((end) => `millrace.db${end}`)

/** Every user may enter it: the modes of the files alone keep others out. */
function openFolder(): string {
  const folder = temporaryFolder()
  chmodSync(folder, 0o755)
  return folder
}

function modeOf(path: string): string {
  return (lstatSync(path).mode & 0o777).toString(8)
}

function modesIn(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]))
}

const all = (names: readonly string[], mode: string) => Object.fromEntries(names.map((name) => [name, mode]))

/** What another user finds in a file; undefined for one that may not be read. */
function readAs(uid: number, gid: number, path: string): Buffer | undefined {
  const { status, stdout } = spawnSync('cat', [path], { uid, gid, maxBuffer: 64 * 2 ** 20 })
  return status === 0 ? stdout : undefined
}

async function stopped(daemon: ReturnType<typeof startDaemon>): Promise<void> {
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended).toMatchObject({ code: 0 })
}

/** Served once, with a job in it. */
async function served(folder: string): Promise<string> {
  const daemon = startDaemon(folder)
  const engine = await attached(daemon, folder)
  await engine.enqueue('a', 'a payload that is nobody’s')
  await engine.stop()
  await stopped(daemon)
  return join(folder, 'millrace.db')
}

beforeEach((context: TestContext) => {
  if (process.platform === 'win32') context.skip('Windows has no modes, and lets few users make links')
  const former = process.umask(0o022)
  onTestFinished(() => void process.umask(former))
})

describe('1: other users', () => {
  test('find every file of a fresh daemon closed, and may not read one', async (context) => {
    const folder = openFolder()
    const daemon = startDaemon(folder)
    const engine = await attached(daemon, folder)
    await engine.enqueue('a', 'a payload that is nobody’s')
    expect(modesIn(folder)).toEqual({
      ...all([...QUEUE, ...DAEMON, 'millrace.db-socket'], '600'),
      'millrace.db-share': '700',
    })
    const copy = join(folder, 'copy.db')
    await engine.backup(copy)
    expect(modeOf(copy)).toBe('600')
    if (process.getuid?.() !== 0) context.skip('only root can become another user: the modes were looked at, reading was not tried')
    const found = [...QUEUE, ...DAEMON, 'copy.db'].filter((name) => readAs(NOBODY, NOBODY, join(folder, name)) !== undefined)
    expect(found).toEqual([])
    expect(readFileSync(copy).includes('a payload that is nobody’s')).toBe(true)
  })

  test('of the group read a queue whose configuration lets them, and no tokens', async (context) => {
    const folder = openFolder()
    const daemon = startDaemon(folder, { env: { MILLRACE_FILE_ACCESS: 'group' } })
    const engine = await attached(daemon, folder)
    await engine.enqueue('a', 'a payload of the group')
    const copy = join(folder, 'copy.db')
    await engine.backup(copy)
    expect(modesIn(folder)).toEqual({
      ...all([...QUEUE, 'copy.db'], '660'),
      ...all([...DAEMON, 'millrace.db-socket'], '600'),
      'millrace.db-share': '700',
    })
    if (process.getuid?.() !== 0) context.skip('only root can become another user: the modes were looked at, reading was not tried')
    const { gid } = statSync(copy)
    expect(readAs(NOBODY, gid, copy)?.includes('a payload of the group')).toBe(true)
    expect(readAs(NOBODY, NOBODY, copy)).toBeUndefined()
    expect(readAs(NOBODY, gid, join(folder, 'millrace.db-token'))).toBeUndefined()
  })

  test('lose what an earlier version has left open to them, and the log says so', async () => {
    const folder = openFolder()
    await served(folder)
    for (const name of readdirSync(folder)) if (lstatSync(join(folder, name)).isFile()) chmodSync(join(folder, name), 0o644)
    const daemon = startDaemon(folder)
    await daemon.serving
    expect(daemon.lines.filter((line) => line.includes('other users could read files of'))).toHaveLength(1)
    expect(modesIn(folder)).toMatchObject(all([...QUEUE, 'millrace.db-control'], '600'))
  })

  test('an application’s engine hears of it by its logger', async () => {
    const file = join(openFolder(), 'jobs.db')
    await (await openEngine({ file })).stop()
    chmodSync(file, 0o644)
    const warnings: string[] = []
    const ignore = () => {}
    const logger: Logger = { debug: ignore, info: ignore, warn: (message) => void warnings.push(message), error: ignore }
    const engine = await openEngine({ file, logger })
    expect(modeOf(file)).toBe('600')
    await engine.stop()
    expect(warnings).toEqual([expect.stringContaining(`other users could read files of ${file}: their mode is 0600 now`)])
  })
})

describe('12: an emptied or cut file', () => {
  async function refused(folder: string): Promise<string> {
    const { code, stderr } = await startDaemon(folder).ended
    expect(code).toBe(1)
    return stderr
  }

  test.each([0, 1])('of %i bytes is no new queue', async (bytes) => {
    const folder = openFolder()
    const file = await served(folder)
    const before = readFileSync(file)
    truncateSync(file, bytes)
    expect(await refused(folder)).toMatch(
      /millrace\.db was emptied: .* a queue has left millrace\.db-ballast, millrace\.db-owner, millrace\.db-control beside it\. Restore a backup; or, .* \(FILE_TRUNCATED\)/,
    )
    await expect(openEngine({ file })).rejects.toMatchObject({ code: 'FILE_TRUNCATED', bytes })
    // What stands there is restored, and served.
    writeFileSync(file, before)
    await served(folder)
  })

  test('without its last byte is refused', async () => {
    const folder = openFolder()
    const file = await served(folder)
    truncateSync(file, statSync(file).size - 1)
    expect(await refused(folder)).toMatch(/Restore a backup, and keep this file \(FILE_TRUNCATED\)/)
  })

  test('of tokens makes no new ones', async () => {
    const folder = openFolder()
    const file = await served(folder)
    const token = readFileSync(`${file}-token`, 'utf8')
    writeFileSync(`${file}-control`, '')
    expect(await refused(folder)).toMatch(/millrace\.db-control was emptied: .* delete millrace\.db-control \(FILE_TRUNCATED\)/)
    expect(readFileSync(`${file}-token`, 'utf8')).toBe(token)
  })

  test('that `touch` has made is a new queue', async () => {
    const folder = openFolder()
    writeFileSync(join(folder, 'millrace.db'), '')
    await served(folder)
  })
})

describe('13: a link in place of a file', () => {
  test.each(['-ballast', '-owner', '-owner.json', '-wal'])('millrace.db%s is not followed', async (end) => {
    const folder = openFolder()
    const victim = join(folder, 'victim')
    writeFileSync(victim, 'hello')
    symlinkSync('victim', join(folder, `millrace.db${end}`))
    const { code, stderr } = await startDaemon(folder).ended
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`millrace.db${end} is a symbolic link, and must be a plain file. Remove it`),
    ])
    expect(readFileSync(victim, 'utf8')).toBe('hello')
    expect(readdirSync(folder).filter((name) => name.startsWith('millrace.db') && !name.endsWith(end) && !name.endsWith('-share'))).toEqual(
      [],
    )
  })
})
