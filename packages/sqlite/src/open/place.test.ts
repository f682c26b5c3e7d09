import { existsSync, mkdirSync, readdirSync, realpathSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NotWritableError, UnsafeFilesystemError } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { openStore } from '../open-store.ts'
import { storeOptions, temporaryFolder } from '../testing/files.ts'
import { checkPlace, realFile, unsafeKind, unsafeType } from './place.ts'

function refusal(file: string): unknown {
  try {
    openStore(storeOptions(file)).close()
    return undefined
  } catch (error) {
    return error
  }
}

describe('a place where no database can live is refused by name, with what to do', () => {
  test('a folder that does not exist', () => {
    const error = refusal(join(temporaryFolder(), 'none', 'jobs.db'))
    expect(error).toBeInstanceOf(NotWritableError)
    expect(String(error)).toMatch(/none does not exist. Create it/)
  })

  test('a folder in the place of the file', () => {
    const file = join(temporaryFolder(), 'jobs.db')
    mkdirSync(file)
    const error = refusal(file)
    expect(error).toBeInstanceOf(NotWritableError)
    expect(String(error)).toMatch(/is a folder. Name a file in it/)
  })

  test('a path under a file', () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'a'), '')
    expect(refusal(join(folder, 'a', 'jobs.db'))).toBeInstanceOf(NotWritableError)
    expect(readdirSync(folder)).toEqual(['a'])
  })

  test('a folder that cannot be written', (context) => {
    // Root may write anywhere but where the kernel itself says no.
    if (!existsSync('/proc/self')) context.skip('there is no /proc on this system')
    const error = refusal('/proc/self/jobs.db')
    expect(error).toBeInstanceOf(NotWritableError)
    expect(String(error)).toContain('/proc/self/jobs.db')
  })
})

describe('file systems', () => {
  test('that lose locks are known by their numbers', () => {
    expect(unsafeType(0x6969)).toBe('NFS')
    expect(unsafeType(0x01021997)).toBe('9p')
    expect(unsafeType(0x65735546)).toBe('FUSE or virtiofs')
    // CIFS, as a 32-bit kernel tells it.
    expect(unsafeType(0xff534d42 | 0)).toBe('CIFS')
    expect(unsafeType(0xef53)).toBeUndefined()
  })

  test('an unsafe one is opened only where that is allowed', (context) => {
    const unsafe = ['/sys/fs/fuse/connections', '/mnt', '/host'].find(
      (path) => existsSync(path) && unsafeType(statfsSync(path).type) !== undefined,
    )
    if (unsafe === undefined) context.skip('no network or FUSE file system is mounted here')
    const file = join(unsafe as string, 'jobs.db')
    expect(() => checkPlace(file, 'linux', 'refuse')).toThrow(UnsafeFilesystemError)
    expect(() => checkPlace(file, 'linux', 'allow')).not.toThrow()
  })

  test('a Windows share is one', () => {
    expect(unsafeKind('\\\\server\\share\\jobs.db', 'win32')).toBe('a network share')
    expect(unsafeKind('C:\\data\\jobs.db', 'win32')).toBeUndefined()
  })
})

describe('a file has one path', () => {
  test('whatever links lead to it, before and after it is there', () => {
    const folder = realpathSync(temporaryFolder())
    mkdirSync(join(folder, 'real'))
    symlinkSync('real', join(folder, 'folder'))
    symlinkSync(join('folder', 'jobs.db'), join(folder, 'link.db'))
    symlinkSync('link.db', join(folder, 'link to a link.db'))
    const file = join(folder, 'real', 'jobs.db')
    const paths = [file, join(folder, 'folder', 'jobs.db'), join(folder, 'link.db'), join(folder, 'link to a link.db')]
    expect(paths.map((path) => realFile(path))).toEqual(paths.map(() => file))
    writeFileSync(file, '')
    expect(paths.map((path) => realFile(path))).toEqual(paths.map(() => file))
  })

  test('links in a circle lead nowhere, and are refused', () => {
    const folder = realpathSync(temporaryFolder())
    symlinkSync('b.db', join(folder, 'a.db'))
    symlinkSync('a.db', join(folder, 'b.db'))
    expect(realFile(join(folder, 'a.db'))).toMatch(/[ab].db$/)
    expect(refusal(join(folder, 'a.db'))).toBeInstanceOf(NotWritableError)
  })
})
