import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockFolder } from './lock.ts'

const HOLD = `
  import { lockFolder } from ${JSON.stringify(new URL('./lock.ts', import.meta.url).href)}
  await lockFolder(process.argv[1])
  process.stdout.write('locked')
  setInterval(() => {}, 1e9)
`

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-lock-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a folder is locked once in a process, and free when that is over', async () => {
  const unlock = await lockFolder(folder)
  await expect(lockFolder(folder)).rejects.toMatchObject({
    name: 'JournalInUseError',
    code: 'JOURNAL_IN_USE',
    retryable: true,
    message: expect.stringContaining(`process ${process.pid} on `),
  })
  const other = await lockFolder(mkdtempSync(join(folder, 'other-')))
  unlock()
  expect(existsSync(join(folder, 'holder'))).toBe(false)
  const again = await lockFolder(folder)
  again()
  other()
})

test('the files of the lock are their owner’s alone, and none is written through a link', async ({ skip }) => {
  if (process.platform === 'win32') skip('Windows has no modes, and lets few users make links')
  const umask = process.umask(0)
  const victim = join(folder, 'victim')
  writeFileSync(victim, 'hello', { mode: 0o600 })
  symlinkSync('victim', join(folder, 'holder'))
  try {
    const unlock = await lockFolder(folder)
    const modes = readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)])
    expect(modes.toSorted()).toEqual(['holder', 'lock', 'lock-journal', 'victim'].map((name) => [name, '600']))
    expect(readFileSync(victim, 'utf8')).toBe('hello')
    unlock()
  } finally {
    process.umask(umask)
  }
})

test('another process is named while it has the lock, and kill -9 frees it at once', async () => {
  const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLD, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await once(holder.stdout, 'data')
    await expect(lockFolder(folder)).rejects.toMatchObject({
      code: 'JOURNAL_IN_USE',
      message: expect.stringContaining(`process ${holder.pid} on `),
    })
  } finally {
    holder.kill('SIGKILL')
    await once(holder, 'close')
  }
  const unlock = await lockFolder(folder)
  unlock()
})

test('a folder that cannot be locked says so, and nothing is held', async () => {
  mkdirSync(join(folder, 'holder'))
  await expect(lockFolder(folder)).rejects.toMatchObject({ code: 'NOT_WRITABLE', message: expect.stringContaining(folder) })
  rmSync(join(folder, 'holder'), { recursive: true })
  const unlock = await lockFolder(folder)
  unlock()
  rmSync(join(folder, 'lock'))
  mkdirSync(join(folder, 'lock'))
  await expect(lockFolder(folder)).rejects.toMatchObject({ code: 'NOT_WRITABLE' })
})
