// `--url http://...`: the address that `millrace serve` prints first leads to the daemon's socket.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type DaemonOptions, startDaemon, tokenIn } from './daemon.ts'
import { Place } from './millrace.ts'

const LONG = 300_000
const CERTIFICATES = fileURLToPath(new URL('../remote/certificates/', import.meta.url))

/** A daemon, and a command line that has its HTTP address as MILLRACE_URL. */
async function served(options?: DaemonOptions) {
  const place = new Place()
  const daemon = startDaemon(place.folder, options)
  const { url } = await daemon.serving
  place.url = url
  return { place, url, token: tokenIn(place.folder) }
}

test('commands of the address that serve prints, with the token of the daemon', { timeout: LONG }, async () => {
  const { place, url, token } = await served()
  const none = await place.run('status')
  expect(none).toMatchObject({
    code: 6,
    stdout: '',
    stderr: expect.stringMatching(/requires a token: set MILLRACE_TOKEN.*\(AUTH_FAILED\)/),
  })
  place.env['MILLRACE_TOKEN'] = `${token}x`
  expect(await place.run('status')).toMatchObject({ code: 6, stderr: expect.stringContaining('(AUTH_FAILED)') })
  place.env['MILLRACE_TOKEN'] = token
  const id = (await place.ok('enqueue', 'mail')).trim()
  expect(await place.ok('jobs')).toContain(id)
  expect(await place.okJson('status')).toMatchObject({ target: url, states: { waiting: 1 } })
  expect(await place.okJson('status', '--url', url.replace('127.0.0.1', 'localhost'))).toMatchObject({ states: { waiting: 1 } })
  const nowhere = await place.run('status', '--url', `${url}/queue`)
  expect(nowhere).toMatchObject({ code: 6, stderr: expect.stringMatching(/is not an HTTP API .*status 404.*\(CONNECT_FAILED\)/) })
})

test('a detached worker keeps the address', { timeout: LONG }, async () => {
  const { place, token } = await served()
  place.env['MILLRACE_TOKEN'] = token
  const handlers = fileURLToPath(new URL('./programs/handlers.ts', import.meta.url))
  await place.ok('worker', '--handlers', handlers, '--id', 'w1', '--detach')
  expect(await place.ok('workers')).toMatch(/^w1 /m)
  expect(await place.ok('worker', 'stop', '--all')).toMatch(/^w1 .* stopped$/m)
})

test("a daemon without a socket, or with one that may be anybody's: the flag that opens one, the address to give", {
  timeout: LONG,
}, async () => {
  const alone = await served({ flags: { listen: '[]' } })
  alone.place.env['MILLRACE_TOKEN'] = alone.token
  expect(await alone.place.run('status')).toMatchObject({
    code: 6,
    stderr: expect.stringMatching(/has no socket: start it with --listen unix:/),
  })
  const open = await served({ flags: { listen: 'tcp://127.0.0.1:0' } })
  open.place.env['MILLRACE_TOKEN'] = open.token
  const { stderr } = await open.place.run('status')
  const [, address = ''] = /give --url (tcp:\/\/127\.0\.0\.1:\d+) \(CONNECT_FAILED\)\n$/.exec(stderr) ?? []
  expect(await open.place.okJson('status', '--url', address)).toMatchObject({ target: address })
})

test('HTTPS leads to TLS at the same host; both need the authority of the certificate', { timeout: LONG }, async () => {
  const place = new Place()
  for (const name of ['server.key', 'server.crt']) copyFileSync(join(CERTIFICATES, name), place.path(name))
  const flags = { 'tls-key': 'server.key', 'tls-cert': 'server.crt', listen: 'tls://127.0.0.1:0' }
  const { url } = await startDaemon(place.folder, { flags }).serving
  place.url = url
  place.env['MILLRACE_TOKEN'] = tokenIn(place.folder)
  expect(await place.run('status')).toMatchObject({
    code: 6,
    stderr: expect.stringMatching(/nothing answers at https:.*NODE_EXTRA_CA_CERTS/),
  })
  place.env['NODE_EXTRA_CA_CERTS'] = join(CERTIFICATES, 'ca.crt')
  expect(await place.okJson('status')).toMatchObject({ target: url, workers: [] })
})
