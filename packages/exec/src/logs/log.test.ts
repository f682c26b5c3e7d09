import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../testing/folder.ts'
import { RunLog } from './log.ts'

test('it has what was written, in that order, also where nobody waits', async () => {
  const path = join(temporaryFolder(), 'a.log')
  const log = await RunLog.open(path, 100_000)
  const pieces = Array.from({ length: 200 }, (_, number) => `${number}\n`)
  await Promise.all(pieces.map((piece) => log.write(Buffer.from(piece))))
  await log.close()
  expect(readFileSync(path, 'utf8')).toBe(pieces.join(''))
  expect([log.bytes, log.failure]).toEqual([pieces.join('').length, undefined])
})

/** 600 bytes: a third is 200, of which a line takes 128. */
const MAX_BYTES = 600

/** Numbers of seven digits and a space, up to so many bytes: any eight of them say where they are. */
const numbered = (bytes: number) => Array.from({ length: bytes / 8 }, (_, index) => `${String(index).padStart(7, '0')} `).join('')

/** What is in each file there is, without the line that begins it. */
async function filesOf(output: string, pieceBytes: number) {
  const folder = temporaryFolder()
  const path = join(folder, 'a.log')
  const log = await RunLog.open(path, MAX_BYTES)
  const bytes = Buffer.from(output)
  for (let at = 0; at < bytes.length; at += pieceBytes) await log.write(bytes.subarray(at, at + pieceBytes))
  await log.close()
  expect(log.failure).toBeUndefined()
  const files: Record<string, { readonly mark: string | undefined; readonly text: string }> = Object.fromEntries(
    readdirSync(folder).map((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      expect(text.length).toBeLessThanOrEqual(MAX_BYTES / 3)
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
      if (!text.startsWith('[')) return [name, { mark: undefined, text }]
      expect(text[127]).toBe('\n')
      return [name, { mark: text.slice(0, 127).trimEnd(), text: text.slice(128) }]
    }),
  )
  expect(Object.values(files).reduce((sum, { text }) => sum + text.length, 0)).toBe(log.bytes)
  return files
}

test('what a third takes is in one file', async () => {
  expect(await filesOf(numbered(200), 7)).toEqual({ 'a.log': { mark: undefined, text: numbered(200) } })
})

test.for([1, 7, 50, 10_000])('what the bound takes is in three files, all of it, in pieces of %i', async (pieceBytes) => {
  const output = numbered(200 + 72 + 72)
  expect(await filesOf(output, pieceBytes)).toEqual({
    'a.1.log': { mark: undefined, text: output.slice(0, 200) },
    'a.2.log': { mark: '[continues from a.1.log]', text: output.slice(200, 272) },
    'a.log': { mark: '[continues from a.2.log]', text: output.slice(272) },
  })
})

test.for([1, 7, 50, 10_000])('more keeps its beginning and its end, and counts the rest, in pieces of %i', async (pieceBytes) => {
  const output = numbered(200 + 72 * 10 + 8)
  expect(await filesOf(output, pieceBytes)).toEqual({
    'a.1.log': { mark: undefined, text: output.slice(0, 200) },
    'a.2.log': { mark: `[${72 * 9} bytes between a.1.log and this are not kept]`, text: output.slice(200 + 72 * 9, -8) },
    'a.log': { mark: '[continues from a.2.log]', text: output.slice(-8) },
  })
})

test('files of the same run that were there before are not taken for its own', async () => {
  const folder = temporaryFolder()
  for (const name of ['a.log', 'a.1.log', 'a.2.log', 'b.1.log']) writeFileSync(join(folder, name), 'of before')
  await (await RunLog.open(join(folder, 'a.log'), MAX_BYTES)).close()
  expect(readdirSync(folder).sort()).toEqual(['a.log', 'b.1.log'])
})

test('a log that cannot rotate ends early, and whoever writes goes on', async () => {
  const folder = temporaryFolder()
  const log = await RunLog.open(join(folder, 'a.log'), MAX_BYTES)
  mkdirSync(join(folder, 'a.1.log'))
  await log.write(Buffer.from(numbered(400)))
  await log.write(Buffer.from('more'))
  expect(log.failure).toMatchObject({ code: 'EISDIR' })
  await log.close()
  expect(readFileSync(join(folder, 'a.log'), 'utf8')).toBe(numbered(200))
  expect([log.bytes, existsSync(join(folder, 'a.2.log'))]).toEqual([200, false])
})

test('a log that cannot be written ends early, and whoever writes goes on', async () => {
  const path = join(temporaryFolder(), 'a.log')
  const log = await RunLog.open(path, 100)
  await log.close()
  await log.write(Buffer.from('x'))
  await log.write(Buffer.from('y'))
  expect(log.failure).toBeInstanceOf(Error)
})

test('a link in its place is not followed', async () => {
  const folder = temporaryFolder()
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'a.log'))
  await expect(RunLog.open(join(folder, 'a.log'), 100)).rejects.toMatchObject({ code: 'ELOOP' })
})

const ELSEWHERE = process.platform !== 'linux'

/** Files of the folder that this process has open. */
function openIn(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`)
      return path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : []
    } catch {
      // That of the folder of descriptors itself is closed by now.
      return []
    }
  })
}

test('it has one file open, however often another one is begun', async ({ skip }) => {
  skip(ELSEWHERE, 'only Linux lists what a process has open')
  const folder = temporaryFolder()
  const log = await RunLog.open(join(folder, 'a.log'), MAX_BYTES)
  for (let count = 0; count < 50; count++) await log.write(Buffer.from(numbered(200)))
  expect(openIn(folder)).toEqual(['a.log'])
  await log.close()
  expect(openIn(folder)).toEqual([])
})

test('one that cannot be begun leaves nothing open', async ({ skip }) => {
  skip(ELSEWHERE, 'only Linux lists what a process has open')
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'a.1.log'))
  await expect(RunLog.open(join(folder, 'a.log'), MAX_BYTES)).rejects.toMatchObject({ code: 'ERR_FS_EISDIR' })
  expect(openIn(folder)).toEqual([])
})
