/** Who may be reached by whom: this machine alone, or others with TLS and a token. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { connect as connectTls, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { connect, InsecureBindError, listen } from '@millrace/remote'
import { expect, onTestFinished, test } from 'vitest'
import { serve } from './served.ts'

const pem = (name: string) => readFileSync(new URL(`./certificates/${name}`, import.meta.url))
const [ca, cert, key] = [pem('ca.crt'), pem('server.crt'), pem('server.key')]
const token = 'a token for the tests'
const engine = {
  openPort(): never {
    throw new Error('nobody connects here')
  },
}

test.each([
  ['tcp://0.0.0.0:0', {}],
  ['tcp://[::]:0', {}],
  ['tcp://0.0.0.0:0', { token }],
  ['tls://0.0.0.0:0', { tls: { key, cert } }],
  ['tls://0.0.0.0:0', { tls: { key, cert, ca, requestCert: true } }],
])('%s without TLS and a token is refused', async (url, options) => {
  await expect(listen(engine, url, options)).rejects.toBeInstanceOf(InsecureBindError)
  await expect(listen(engine, url, options)).rejects.toMatchObject({ code: 'INSECURE_BIND', retryable: false })
})

test('with both it listens', async () => {
  await using server = await listen(engine, 'tls://0.0.0.0:0', { tls: { key, cert }, token })
  expect(server.url).toMatch(/^tls:\/\/0\.0\.0\.0:[1-9]\d*$/)
})

test('a renewed certificate is shown to clients that connect from now on, and those that are connected stay', async () => {
  const { server } = await serve({ url: 'tls://127.0.0.1:0', listen: { tls: { key, cert }, token } })
  const connected = await connect(server.url, { token, tls: { ca } })
  onTestFinished(() => connected.stop({ timeout: 0 }))
  const [otherCert, otherKey] = [pem('client.crt'), pem('client.key')]
  const shown = async () => {
    const socket = connectTls({ port: Number(new URL(server.url).port), host: '127.0.0.1', rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const found = socket.getPeerX509Certificate()?.toString().trim()
    socket.destroy()
    return found
  }
  expect(await shown()).toBe(`${cert}`.trim())
  server.useCertificate({ key: otherKey, cert: otherCert })
  expect(await shown()).toBe(`${otherCert}`.trim())
  expect(() => server.useCertificate({ key, cert: otherCert })).toThrow(/key values mismatch/)
  expect(() => server.useCertificate({ key: '/etc/key.pem', cert })).toThrow(expect.objectContaining({ option: 'tls.key' }))
  expect(await shown()).toBe(`${otherCert}`.trim())
  const { id } = await connected.enqueue('stays')
  expect(await connected.get(id)).toMatchObject({ name: 'stays' })
})

test('a server without a certificate has none to replace', async () => {
  for (const options of [{ tls: { secret: randomBytes(32) } }, {}]) {
    await using server = await listen(engine, 'tls' in options ? 'tls://127.0.0.1:0' : 'tcp://127.0.0.1:0', options)
    expect(() => server.useCertificate({ key, cert })).toThrow(expect.objectContaining({ code: 'OPTION_TYPE', option: 'tls' }))
  }
})

test.each([
  ['tls://127.0.0.1:0', {}, 'tls'],
  ['tcp://127.0.0.1:0', { tls: { key, cert } }, 'tls'],
  ['unix:/run/x', { tls: { key, cert } }, 'tls'],
  ['tls://127.0.0.1:0', { tls: { key } }, 'tls.cert'],
  ['tls://127.0.0.1:0', { tls: { key: '/etc/key.pem', cert } }, 'tls.key'],
  ['tls://127.0.0.1:0', { tls: { key, cert, requestCert: true } }, 'tls.ca'],
  ['tls://127.0.0.1:0', { tls: { secret: 'text' } }, 'tls.secret'],
  ['tls://127.0.0.1:0', { tls: { secret: randomBytes(32), key } }, 'key'],
  ['tcp://127.0.0.1:0', { tls: { secret: randomBytes(32) } }, 'tls'],
])('%s with %o is misuse', async (url, options, option) => {
  await expect(listen(engine, url, options as never)).rejects.toMatchObject({ code: 'OPTION_TYPE', option })
})

test('jobs go over TLS, with a token', async () => {
  const served = await serve({ url: 'tls://127.0.0.1:0', listen: { tls: { key, cert }, token } })
  const probe = await served.probe({ token, tls: { ca } })
  await probe.attach(['a'], { local: false })
  const { seq } = await probe.enqueue('a', { data: '1' })
  expect(await probe.grants.take()).toMatchObject({ seq, data: '1' })
  const port = new URL(served.url).port
  await (await served.probe({ token, tls: { ca } }, `tls://localhost:${port}`)).barrier()
})

test('a secret that both ends know stands for certificates and a token', async () => {
  const secret = randomBytes(32)
  await using everywhere = await listen(engine, 'tls://0.0.0.0:0', { tls: { secret } })
  expect(everywhere.url).toMatch(/^tls:/)
  const served = await serve({ url: 'tls://127.0.0.1:0', listen: { tls: { secret } } })
  const probe = await served.probe({ tls: { secret } })
  await probe.attach(['a'], { local: false })
  const { seq } = await probe.enqueue('a', { data: '1' })
  expect(await probe.grants.take()).toMatchObject({ seq, data: '1' })
  for (const tls of [{ secret: randomBytes(32) }, {}, { rejectUnauthorized: false }])
    await expect(connect(served.url, { tls, connectTimeout: 100 })).rejects.toMatchObject({ code: 'CONNECT_FAILED' })
  await probe.barrier()
})

test('a client with a secret believes no server that does not know it, whoever vouches for its certificate', async () => {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, ca.toString()])
  onTestFinished(() => setDefaultCACertificates(before))
  const served = await serve({ url: 'tls://127.0.0.1:0', listen: { tls: { key, cert } } })
  const { port } = new URL(served.url)
  // The certificate is good for that name.
  await (await connect(`tls://localhost:${port}`, { connectTimeout: '5s' })).stop()
  await expect(connect(`tls://localhost:${port}`, { tls: { secret: randomBytes(32) }, connectTimeout: '3s' })).rejects.toMatchObject({
    code: 'CONNECT_FAILED',
    message: expect.stringContaining('the server does not know the secret'),
  })
})

test('a secret of another length is refused', async () => {
  const tls = { secret: randomBytes(31) }
  await expect(listen(engine, 'tls://127.0.0.1:0', { tls })).rejects.toMatchObject({ code: 'OPTION_RANGE', option: 'tls.secret' })
  await expect(connect('tls://127.0.0.1:1', { tls })).rejects.toMatchObject({ code: 'OPTION_RANGE', option: 'tls.secret' })
})

test('nothing before TLS 1.3', async () => {
  const { url } = await serve({ url: 'tls://127.0.0.1:0', listen: { tls: { key, cert } } })
  const error = await new Promise<Error>((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port: Number(new URL(url).port), ca, maxVersion: 'TLSv1.2' })
    socket.on('error', resolve)
    socket.on('secureConnect', () => reject(new Error('connected')))
  })
  expect(error).toMatchObject({ code: expect.stringContaining('PROTOCOL_VERSION') })
})

test('a server that nobody vouches for is not believed, and gets no token', async () => {
  const tls = { key: pem('stranger.key'), cert: pem('stranger.crt') }
  const served = await serve({ url: 'tls://127.0.0.1:0', listen: { tls, token } })
  // Time for a handshake on a machine with other work on it, so that why it fails is known.
  await expect(connect(served.url, { token, tls: { ca }, connectTimeout: '2s' })).rejects.toMatchObject({
    code: 'CONNECT_FAILED',
    message: expect.stringContaining('certificate'),
  })
})

test('TLS is not left out where it is asked for, nor the token sent in clear: tls needs a tls:// address', async () => {
  let connections = 0
  const server = createServer(() => connections++).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const tls of [{ ca }, {}])
    await expect(connect(url, { token, tls, connectTimeout: 100 })).rejects.toMatchObject({ code: 'OPTION_TYPE', option: 'tls' })
  await expect(connect('unix:/run/x', { tls: { ca }, connectTimeout: 100 })).rejects.toMatchObject({ code: 'OPTION_TYPE', option: 'tls' })
  expect(connections).toBe(0)
})

test('both ends show a certificate where the server asks for it', async () => {
  const served = await serve({ url: 'tls://127.0.0.1:0', listen: { tls: { key, cert, ca, requestCert: true }, token } })
  await (await served.probe({ token, tls: { ca, cert: pem('client.crt'), key: pem('client.key') } })).barrier()
  for (const tls of [{ ca }, { ca, cert: pem('stranger.crt'), key: pem('stranger.key') }])
    await expect(connect(served.url, { token, tls, connectTimeout: 100 })).rejects.toMatchObject({ code: 'CONNECT_FAILED' })
  expect(served.server.connections).toBe(1)
})

test('no more than may wait to greet are waited for in their handshake', async () => {
  const served = await serve({ url: 'tls://127.0.0.1:0', listen: { tls: { key, cert }, maxUnauthenticated: 2, helloTimeout: '1m' } })
  const silent = () => {
    const socket = createConnection({ host: '127.0.0.1', port: Number(new URL(served.url).port) })
    onTestFinished(() => void socket.destroy())
    return { socket, connected: once(socket, 'connect'), closed: once(socket, 'close') }
  }
  const [one, two] = [silent(), silent()]
  await Promise.all([one.connected, two.connected])
  await silent().closed
  one.socket.destroy()
  // It tries again until there is room.
  const engine = await connect(served.url, { tls: { ca } })
  await engine.stop()
  // Nor is one of them waited for at the end.
  await served.close()
  await two.closed
})

test('what does not speak TLS is cut off, and the server goes on', async () => {
  const served = await serve({ url: 'tls://127.0.0.1:0', listen: { tls: { key, cert } } })
  await expect(connect(served.url.replace('tls:', 'tcp:'), { connectTimeout: 100 })).rejects.toMatchObject({ code: 'CONNECT_FAILED' })
  await (await served.probe({ tls: { ca } })).barrier()
})
