/** ADR 67: what an HTTP server, honest or hostile, can make the command line connect to. The token is sent to nothing else. */
import { once } from 'node:events'
import { chmodSync, lstatSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fileIdentity } from '../machine.ts'
import { socketBehind } from './overHttp.ts'

function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-http-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A server on this machine, and all that it was sent. */
async function serving(answer: unknown | RequestListener) {
  const heard: IncomingMessage[] = []
  const server = createServer((request, response) => {
    heard.push(request)
    if (typeof answer === 'function') answer(request, response)
    else response.setHeader('content-type', 'application/json').end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  // Another name for the same address, which is none of those that mean this machine.
  return { heard, url: `http://127.0.0.1:${port}`, elsewhere: `http://[::ffff:127.0.0.1]:${port}` }
}

/** A socket of this user, which fails the test if anything connects to it. */
async function socketFile(): Promise<{ readonly path: string; readonly file: string | undefined }> {
  const path = join(temporaryFolder(), 's')
  const server = createSocket(() => expect.unreachable('something has connected')).listen(path)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { path, file: fileIdentity(path) }
}

const failed = (message: RegExp) => ({ code: 'CONNECT_FAILED', message: expect.stringMatching(message) })

test('a Unix socket of this user, by a request without a token', async () => {
  const { path, file } = await socketFile()
  const { url, heard } = await serving({
    sockets: [
      { kind: 'tcp', port: 1 },
      { kind: 'unix', path, file },
      { kind: 'tls', port: 2 },
    ],
  })
  for (const each of [url, `${url}/`, url.replace('127.0.0.1', 'localhost'), `${url}/queue/`])
    expect(await socketBehind(each)).toBe(`unix:${path}`)
  expect(heard.map(({ url: asked }) => asked)).toEqual(['/v1/sockets', '/v1/sockets', '/v1/sockets', '/queue/v1/sockets'])
  for (const { headers } of heard) expect(headers).not.toHaveProperty('authorization')
})

test('a server of another host leads to no file of this machine', async () => {
  const { path, file } = await socketFile()
  const { elsewhere } = await serving({
    sockets: [
      { kind: 'unix', path, file },
      { kind: 'tcp', port: 1 },
      { kind: 'pipe', path: 'p' },
    ],
  })
  await expect(socketBehind(elsewhere)).rejects.toMatchObject(failed(/has no socket that this machine can reach: .*--listen tls:/))
})

test('another file than the one that is meant is not opened', async () => {
  const { path, file } = await socketFile()
  const folder = temporaryFolder()
  symlinkSync(path, join(folder, 'link'))
  writeFileSync(join(folder, 'plain'), '')
  const places = [
    [{ kind: 'unix', path, file: '1:1' }, /is another file/],
    [{ kind: 'unix', path }, /is another file/],
    [{ kind: 'unix', path: join(folder, 'link'), file }, /is another file/],
    [{ kind: 'unix', path: join(folder, 'plain'), file: fileIdentity(join(folder, 'plain')) }, /is another file/],
    [{ kind: 'unix', path: join(folder, 'none'), file }, /is not on this machine/],
  ] as const
  for (const [place, message] of places) {
    const { url } = await serving({ sockets: [place] })
    await expect(socketBehind(url)).rejects.toMatchObject(failed(message))
  }
})

test('a socket in a folder where others may write is not opened: the user decides', async () => {
  const { path, file } = await socketFile()
  const folder = dirname(path)
  chmodSync(folder, 0o777)
  const { url } = await serving({ sockets: [{ kind: 'unix', path, file }] })
  await expect(socketBehind(url)).rejects.toMatchObject(failed(/where other users may replace files.*give --url unix:/))
  chmodSync(folder, 0o700)
  expect(await socketBehind(url)).toBe(`unix:${realpathSync(path)}`)
})

test("another user's socket is not opened: the user decides", async () => {
  const { path, file } = await socketFile()
  const { url } = await serving({ sockets: [{ kind: 'unix', path, file }] })
  const { uid } = lstatSync(path)
  const other = vi.spyOn(process as { getuid: () => number }, 'getuid').mockReturnValue(uid + 1)
  onTestFinished(() => other.mockRestore())
  await expect(socketBehind(url)).rejects.toMatchObject(
    failed(new RegExp(`belongs to another user \\(${uid}\\).*give --url unix:${path}$`)),
  )
})

test('a port of this machine is not opened: anybody may listen there', async () => {
  const { url } = await serving({
    sockets: [
      { kind: 'tcp', port: 7411 },
      { kind: 'pipe', path: 'jobs' },
    ],
  })
  await expect(socketBehind(url)).rejects.toMatchObject(failed(/give --url tcp:\/\/127\.0\.0\.1:7411; .*give --url pipe:jobs$/))
})

test('TLS is at the host of the URL, whatever the answer says', async () => {
  const { url, elsewhere } = await serving({ sockets: [{ kind: 'tls', port: 7413, host: 'evil.example', url: 'tls://evil.example:1' }] })
  expect(await socketBehind(url)).toBe('tls://127.0.0.1:7413')
  expect(await socketBehind(elsewhere)).toBe('tls://[::ffff:7f00:1]:7413')
  const hostile = await serving({
    sockets: [
      { kind: 'tls', port: '1@evil.example:7413' },
      { kind: 'https', port: 1 },
    ],
  })
  await expect(socketBehind(hostile.url)).rejects.toMatchObject(failed(/has no socket: start it with --listen/))
})

test('a redirect is not followed', async () => {
  const goal = await serving({ sockets: [{ kind: 'tls', port: 7413 }] })
  const { url } = await serving((_request: IncomingMessage, response: Parameters<RequestListener>[1]) =>
    response.writeHead(307, { location: `${goal.url}/v1/sockets` }).end(),
  )
  await expect(socketBehind(url)).rejects.toMatchObject(failed(/is not an HTTP API .*status 307/))
  expect(goal.heard).toEqual([])
})

test.each([
  ['nothing', '', /is not an HTTP API/],
  ['a page', '<html>', /is not an HTTP API/],
  ['null', 'null', /it lists no sockets/],
  ['strings', '{"sockets":["tls://evil.example:1"]}', /it lists no sockets/],
  ['too much', JSON.stringify({ sockets: 'x'.repeat(70_000) }), /more than 65536 bytes/],
])('an answer that is not understood: %s', async (_what, answer, message) => {
  await expect(socketBehind((await serving(answer)).url)).rejects.toMatchObject(failed(message))
})

test('an address at which nothing listens, and one that has more than an address', async () => {
  const { url } = await serving((request: IncomingMessage) => request.socket.destroy())
  await expect(socketBehind(url)).rejects.toMatchObject(failed(/nothing answers at http:\/\/127\.0\.0\.1:\d+ \(\S+\): start the daemon/))
  for (const wrong of ['http://', 'http://me:secret@127.0.0.1:1', 'http://127.0.0.1:1/?token=x', 'http://127.0.0.1:1/#x'])
    await expect(socketBehind(wrong)).rejects.toMatchObject({ code: 'USAGE', message: expect.not.stringContaining('secret') })
})
