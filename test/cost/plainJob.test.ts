/** The way of a plain job stays short: each file and each function on it is one more that every job pays for, and every reader reads. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const FILES_MAX = 90
const FUNCTIONS_MAX = 314

test('a plain job executes no more files and functions than it did', async () => {
  const script = fileURLToPath(new URL('plainJob.ts', import.meta.url))
  // Without the options of the tests' own processes, which load built packages.
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env: { ...process.env, NODE_OPTIONS: '' } })
  const [, files, functions] = /executes (\d+) files and (\d+) functions/.exec(stdout) ?? []
  expect(Number(files)).toBeGreaterThan(50)
  expect(Number(files)).toBeLessThanOrEqual(FILES_MAX)
  expect(Number(functions)).toBeLessThanOrEqual(FUNCTIONS_MAX)
})
