/** The daemon with a key and a certificate, by paths: HTTPS, and `tls://` for workers; of clients a certificate where that is asked for. */
import { once } from 'node:events'
import { copyFileSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from '@millrace/remote'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { startDaemonHere, tokenIn } from './daemon.ts'

const CERTIFICATES = fileURLToPath(new URL('../remote/certificates/', import.meta.url))
const pem = (name: string) => readFileSync(join(CERTIFICATES, name))
const CLIENT = { cert: pem('client.crt'), key: pem('client.key') }
const ca = pem('ca.crt')

/** Its status; rejects where the two do not come to speak. */
async function status(url: string, token: string, own: Partial<typeof CLIENT> = {}): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${token}` }
  const asked = request(`${url.replace('0.0.0.0', '127.0.0.1')}/v1/stats`, { ca, headers, agent: false, ...own }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

/** What a log-in sets. */
async function cookieOf(url: string, token: string): Promise<string | undefined> {
  const headers = { 'content-type': 'application/json' }
  const asked = request(`${url.replace('0.0.0.0', '127.0.0.1')}/v1/session`, { method: 'POST', ca, headers, agent: false })
  asked.end(JSON.stringify({ token }))
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  return response.headers['set-cookie']?.[0]
}

async function attach(url: string, token: string, own: Partial<typeof CLIENT> = {}) {
  const engine = await connect(url, { token, tls: { ca, ...own }, connectTimeout: '10s' })
  onTestFinished(() => engine.stop({ timeout: 0 }))
  return engine
}

test('others reach it by TLS, and with a token alone', async () => {
  const folder = temporaryFolder()
  for (const name of ['server.key', 'server.crt']) copyFileSync(join(CERTIFICATES, name), join(folder, name))
  const flags = { 'tls-key': 'server.key', 'tls-cert': 'server.crt', 'http-host': '0.0.0.0', listen: 'tls://127.0.0.1:0' }
  const daemon = startDaemonHere(folder, { flags })
  const { url, sockets } = await daemon.serving
  expect([url, sockets]).toEqual([
    expect.stringMatching(/^https:\/\/0\.0\.0\.0:\d+$/),
    [expect.stringMatching(/^tls:\/\/127\.0\.0\.1:\d+$/)],
  ])
  const token = tokenIn(folder)
  expect([await status(url, token), await status(url, 'a-wrong-token-here')]).toEqual([200, 401])
  await (await attach(sockets[0] as string, token)).enqueue('over-tls')
  await expect(connect(sockets[0] as string, { token: 'a-wrong-token-here', tls: { ca } })).rejects.toMatchObject({ code: 'AUTH_FAILED' })
  expect(await cookieOf(url, token)).toMatch(/; HttpOnly; SameSite=Strict; Secure$/)
  daemon.signal('SIGTERM')
  expect(await daemon.ended).toMatchObject({ code: 0 })
})

test('tls.requestCert: a client shows a certificate that tls.ca has signed, over HTTPS and by socket', async () => {
  const folder = temporaryFolder()
  const paths = {
    'tls-key': join(CERTIFICATES, 'server.key'),
    'tls-cert': join(CERTIFICATES, 'server.crt'),
    'tls-ca': join(CERTIFICATES, 'ca.crt'),
  }
  const daemon = startDaemonHere(folder, { flags: { ...paths, 'tls-request-cert': 'true', listen: 'tls://127.0.0.1:0' } })
  const { url, sockets } = await daemon.serving
  const token = tokenIn(folder)
  const stranger = { cert: pem('stranger.crt'), key: pem('stranger.key') }
  for (const own of [{}, stranger]) await expect(status(url, token, own)).rejects.toThrow()
  await expect(connect(sockets[0] as string, { token, tls: { ca }, connectTimeout: 500 })).rejects.toMatchObject({ code: 'CONNECT_FAILED' })
  expect(await status(url, token, CLIENT)).toBe(200)
  expect((await (await attach(sockets[0] as string, token, CLIENT)).stats()).workers).toBe(0)
})

test.each<[string, Record<string, string>, RegExp]>([
  ['a path that is not there', { 'tls-key': 'none.pem', 'tls-cert': 'none.pem' }, /'tls\.key' cannot be read: .*none\.pem/],
  ['an authority and nothing else', { 'tls-ca': join(CERTIFICATES, 'ca.crt') }, /TLS requires 'tls\.key' and 'tls\.cert'/],
  ['certificates of clients, and none of its own', { 'tls-request-cert': 'true' }, /TLS requires 'tls\.key' and 'tls\.cert'/],
  [
    'certificates of clients that nobody signs',
    { 'tls-key': join(CERTIFICATES, 'server.key'), 'tls-cert': join(CERTIFICATES, 'server.crt'), 'tls-request-cert': 'true' },
    /'tls\.requestCert' requires 'tls\.ca'/,
  ],
])('%s: exit code 2, and why', async (_what, flags, why) => {
  const { code, stderr } = await startDaemonHere(temporaryFolder(), { flags }).ended
  expect([code, stderr]).toEqual([2, expect.stringMatching(why)])
})
