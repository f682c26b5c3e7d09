import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { packageFolder, unpackChromium } from './unpack.ts'

/** A tar file without any file. */
const EMPTY = Buffer.alloc(1024)

/** A package with a browser of one line. */
function packageWith(version: string, browser = brotliCompressSync(`browser ${version}`)): string {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }))
  writeFileSync(join(folder, 'bin/chromium.br'), browser)
  for (const name of ['fonts.tar.br', 'al2023.tar.br']) writeFileSync(join(folder, 'bin', name), brotliCompressSync(EMPTY))
  return folder
}

test('the browser is unpacked once, into a cache that need not be there', async () => {
  const cache = join(temporaryFolder(), 'a/cache')
  const { executablePath, env } = await unpackChromium(packageWith('1.0.0'), cache)
  expect(readFileSync(executablePath, 'utf8')).toBe('browser 1.0.0')
  expect(env).toEqual({ LD_LIBRARY_PATH: join(cache, '1.0.0/al2023/lib'), FONTCONFIG_FILE: join(cache, '1.0.0/fonts.conf') })
  expect(existsSync(env['FONTCONFIG_FILE'] as string)).toBe(true)
  writeFileSync(executablePath, 'kept')
  await unpackChromium(packageWith('1.0.0'), cache)
  expect(readFileSync(executablePath, 'utf8')).toBe('kept')
})

test('many at a time get one browser, and leave nothing beside it', async () => {
  const cache = temporaryFolder()
  const from = packageWith('1.0.0')
  const all = await Promise.all(Array.from({ length: 4 }, () => unpackChromium(from, cache)))
  expect(new Set(all.map(({ executablePath }) => executablePath)).size).toBe(1)
  expect(readdirSync(cache)).toEqual(['1.0.0'])
})

test('half a browser of a killed process is not taken for a whole one', async () => {
  const cache = temporaryFolder()
  mkdirSync(join(cache, '1.0.0.killed'))
  writeFileSync(join(cache, '1.0.0.killed/chromium'), 'brow')
  const { executablePath } = await unpackChromium(packageWith('1.0.0'), cache)
  expect(readFileSync(executablePath, 'utf8')).toBe('browser 1.0.0')
})

test('another version takes the place of the one before, and of what a killed process left of it', async () => {
  const cache = temporaryFolder()
  await unpackChromium(packageWith('1.0.0'), cache)
  mkdirSync(join(cache, '1.0.0.killed'))
  await unpackChromium(packageWith('1.1.0'), cache)
  expect(readdirSync(cache)).toEqual(['1.1.0'])
})

test('a damaged package is an error, and leaves nothing', async () => {
  const cache = temporaryFolder()
  await expect(unpackChromium(packageWith('1.0.0', Buffer.from('not brotli')), cache)).rejects.toThrow(/inflate\.ts/)
  expect(readdirSync(cache)).toEqual([])
})

test('the package that is installed has what is unpacked', () => {
  expect(readdirSync(join(packageFolder(), 'bin'))).toEqual(expect.arrayContaining(['chromium.br', 'fonts.tar.br', 'al2023.tar.br']))
})
