import { linkSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AlreadyOpenError } from '@millrace/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { assertNotOpen, registerFile } from './registry.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-registry-'))
  file = join(folder, 'jobs.db')
  writeFileSync(file, '')
})

afterEach(() => rmSync(folder, { recursive: true }))

test('a file is open once in a process, by whatever path, until it is let go', () => {
  const release = registerFile(file)
  const [link, alias] = [join(folder, 'link.db'), join(folder, 'alias.db')]
  linkSync(file, link)
  symlinkSync(file, alias)
  for (const path of [file, link, alias]) {
    expect(() => assertNotOpen(path)).toThrow(AlreadyOpenError)
    expect(() => registerFile(path)).toThrow(/is open in this process already/)
  }
  release()
  assertNotOpen(link)
  registerFile(alias)()
})

test('another file, and one that is not there yet, are free', () => {
  const release = registerFile(file)
  const other = join(folder, 'other.db')
  assertNotOpen(other)
  writeFileSync(other, '')
  registerFile(other)()
  expect(() => assertNotOpen(file)).toThrow(AlreadyOpenError)
  release()
})

test('a second copy of this module knows of it too', async () => {
  const release = registerFile(file)
  vi.resetModules()
  const copy = await import('./registry.ts')
  expect(copy.registerFile).not.toBe(registerFile)
  // Its error is of another class, too.
  expect(() => copy.assertNotOpen(file)).toThrow(/is open in this process already/)
  release()
  copy.assertNotOpen(file)
})
