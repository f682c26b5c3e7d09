import { existsSync, mkdtempSync, rmSync, unlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bind } from './bind.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-bind-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a socket that cannot be made its owner’s alone is not listened at, and the next one can be', async () => {
  const path = join(folder, 'sock')
  const server = createServer()
  // Somebody takes it away in between.
  server.once('listening', () => unlinkSync(path))
  await expect(bind(server, { kind: 'unix', path })).rejects.toMatchObject({
    code: 'NOT_WRITABLE',
    message: expect.stringContaining(path),
    cause: { code: 'ENOENT' },
  })
  expect([server.listening, existsSync(path)]).toEqual([false, false])
  await bind(server, { kind: 'unix', path })
  expect(server.listening).toBe(true)
  await new Promise((resolve) => server.close(resolve))
})
