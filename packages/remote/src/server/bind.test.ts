import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync, unlinkSync } from 'node:fs'
import { createConnection, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { bind } from './bind.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-bind-'))
  // Every user may enter it.
  chmodSync(folder, 0o755)
})
afterEach(() => rmSync(folder, { recursive: true }))

function opened(): Server {
  const server = createServer((socket) => socket.end('here'))
  onTestFinished(async () => {
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  })
  return server
}

function said(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    createConnection({ path }).setEncoding('utf8').once('data', resolve).once('error', reject)
  })
}

const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8)
const isPosix = process.platform !== 'win32'

test('a socket is never seen with another mode than its own, whatever the umask', async (context) => {
  if (!isPosix) context.skip('Windows has no Unix sockets')
  const path = join(folder, 'sock')
  const server = opened()
  // The first moment at which clients are taken: the socket has the mode of the umask then.
  const seen: string[][] = []
  server.once('listening', () => seen.push(readdirSync(folder).map((name) => modeOf(join(folder, name)))))
  const umask = process.umask(0)
  onTestFinished(() => void process.umask(umask))
  await bind(server, { kind: 'unix', path })
  expect(seen).toEqual([['700']])
  expect(readdirSync(folder)).toEqual(['sock'])
  expect(modeOf(path)).toBe('600')
  expect(await said(path)).toBe('here')
})

test('a socket that cannot get its name is not listened at, and the next one can be', async (context) => {
  if (!isPosix) context.skip('Windows has no Unix sockets')
  const path = join(folder, 'sock')
  const server = opened()
  // Somebody takes it away in between.
  server.once('listening', () => unlinkSync(join(folder, readdirSync(folder)[0] as string, 's')))
  await expect(bind(server, { kind: 'unix', path })).rejects.toMatchObject({
    code: 'NOT_WRITABLE',
    message: expect.stringContaining(path),
    cause: { code: 'ENOENT' },
  })
  expect([server.listening, readdirSync(folder)]).toEqual([false, []])
  await bind(server, { kind: 'unix', path })
  expect(server.listening).toBe(true)
})

test('a file that takes the place meanwhile stays', async (context) => {
  if (!isPosix) context.skip('Windows has no Unix sockets')
  const path = join(folder, 'sock')
  const [first, second] = [opened(), opened()]
  let other: Promise<unknown> = Promise.resolve()
  first.once('listening', () => {
    other = new Promise<void>((resolve) => second.listen(path, resolve))
  })
  const taken = bind(first, { kind: 'unix', path })
  await expect(taken).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' })
  await other
  expect([first.listening, second.listening]).toEqual([false, true])
  expect(await said(path)).toBe('here')
})

test('a server removes its own socket, and never that of its successor', async (context) => {
  if (!isPosix) context.skip('Windows has no Unix sockets')
  const path = join(folder, 'sock')
  const own = await bind(opened(), { kind: 'unix', path })
  unlinkSync(path)
  const next = await bind(opened(), { kind: 'unix', path })
  own.remove()
  expect(await said(path)).toBe('here')
  next.remove()
  next.remove()
  expect(existsSync(path)).toBe(false)
})

test('a path of the greatest length is taken', async (context) => {
  if (!isPosix) context.skip('Windows has no Unix sockets')
  const deep = join(folder, 'x'.repeat(100 - folder.length - '/'.length - '/socket'.length))
  const path = join(deep, 'socket')
  expect(Buffer.byteLength(path)).toBe(100)
  await bind(opened(), { kind: 'unix', path })
  expect(await said(path)).toBe('here')
})
