import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Part, scanFolder } from './scanFolder.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'demo-scan-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

const nothingIsOwn = () => false

test('sorts out what a folder holds', async ({ skip }) => {
  if (process.platform === 'win32') skip('no sockets in folders')
  writeFileSync(join(folder, 'file'), 'x')
  mkdirSync(join(folder, 'sub'))
  symlinkSync('file', join(folder, 'link'))
  symlinkSync('nowhere', join(folder, 'broken'))
  const server = createServer().listen(join(folder, 'socket'))
  await new Promise((resolve) => server.once('listening', resolve))
  expect(await scanFolder({ path: folder }, nothingIsOwn)).toEqual({
    files: [join(folder, 'file')],
    folders: [join(folder, 'sub')],
    parts: [],
    links: 2,
    special: 1,
  })
  server.close()
})

test("leaves out the demo's own files and folders", async () => {
  for (const name of ['jobs.db', 'other']) writeFileSync(join(folder, name), '')
  for (const name of ['page', 'sub']) mkdirSync(join(folder, name))
  const { files, folders } = await scanFolder({ path: folder }, (_, name) => name === 'jobs.db' || name === 'page')
  expect([files, folders]).toEqual([[join(folder, 'other')], [join(folder, 'sub')]])
})

test('keeps names that are no UTF-8', async ({ skip }) => {
  if (process.platform !== 'linux') skip('only Linux takes any bytes as a name')
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xe9])]), 'x')
  const { files } = await scanFolder({ path: folder }, nothingIsOwn)
  expect(files).toEqual([`\0${folder}/é`])
})

test('leaves pseudo file systems alone', async ({ skip }) => {
  if (process.platform !== 'linux') skip('/proc is of Linux')
  expect(await scanFolder({ path: '/proc' }, nothingIsOwn)).toEqual({ files: [], folders: [], parts: [], links: 0, special: 1 })
})

test('splits a folder with too many entries into parts that hold each of them once', async () => {
  const names = Array.from({ length: 25 }, (_, index) => `f${index}`)
  for (const name of names) writeFileSync(join(folder, name), '')
  const whole = await scanFolder({ path: folder }, nothingIsOwn, MAX)
  expect(whole.files).toEqual([])
  expect(whole.parts).toHaveLength(3)
  expect((await filesOf(whole.parts)).sort()).toEqual(names.sort())
})

test('what comes after the split is met too, and a part that has grown is split again', async () => {
  for (let index = 0; index < MAX + 1; index++) writeFileSync(join(folder, `f${index}`), '')
  const { parts } = await scanFolder({ path: folder }, nothingIsOwn, MAX)
  for (const name of ['a-first', 'z-last']) writeFileSync(join(folder, name), '')
  for (let index = 0; index < 3 * MAX; index++) writeFileSync(join(folder, `b${index}`), '')
  const files = await filesOf(parts)
  expect(files).toHaveLength(4 * MAX + 3)
  expect(new Set(files).size).toBe(files.length)
})

const MAX = 10

async function filesOf(parts: readonly Part[]): Promise<string[]> {
  const files: string[] = []
  for (const part of parts) {
    const scan = await scanFolder(part, nothingIsOwn, MAX)
    files.push(...scan.files.map((path) => basename(path)), ...(await filesOf(scan.parts)))
  }
  return files
}
