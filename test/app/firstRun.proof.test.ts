/** The first run of a daemon on an empty machine, and those that follow. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ConnectFailedError, connect } from '@millrace/remote'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { attached, startDaemon, tokenIn } from './daemon.ts'

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('in an empty folder it serves on loopback, with a token that is told once and kept for this user alone', async () => {
  const folder = temporaryFolder()
  const daemon = startDaemon(folder)
  const { url, sockets } = await daemon.serving
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(sockets).toEqual([`unix:${join(folder, 'millrace.db-socket')}`])
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  const token = tokenIn(folder)
  const engine = await attached(daemon, folder)
  const { id } = await engine.enqueue('anything', 1)
  expect((await engine.get(id))?.data).toBe(1)
  for (const name of ['millrace.db-token', 'millrace.db-control', 'millrace.db-socket'])
    expect([name, modeOf(join(folder, name))]).toEqual([name, '600'])
  await expect(connect(sockets[0] as string, { connectTimeout: 500 })).rejects.toMatchObject({ code: 'AUTH_FAILED' })
  await engine.stop()
  daemon.child.kill('SIGTERM')
  const { code, stderr } = await daemon.ended
  expect(code).toBe(0)
  expect(stderr.split(token)).toHaveLength(2)
  expect(daemon.lines.join('\n')).not.toContain(token)
  expect(readdirSync(folder)).not.toContain('millrace.db-socket')

  const again = startDaemon(folder)
  const second = await attached(again, folder, token)
  expect((await second.get(id))?.data).toBe(1)
  await second.stop()
  again.child.kill('SIGINT')
  expect(await again.ended).toMatchObject({ code: 0, stderr: '' })
})

test('a first run that fails has made no token: the one that serves tells it', async () => {
  const folder = temporaryFolder()
  const failing = await startDaemon(folder, { env: { MILLRACE_EXEC: '{"report":{"file":"relative"}}' } }).ended
  expect([failing.code, failing.stderr]).toEqual([2, expect.stringContaining('relative')])
  expect(readdirSync(folder)).not.toContain('millrace.db-token')
  const daemon = startDaemon(folder)
  await daemon.serving
  daemon.child.kill('SIGTERM')
  expect((await daemon.ended).stderr).toContain(tokenIn(folder))
})

test('a configured token makes no other, and is good', async () => {
  const folder = temporaryFolder()
  const token = 'a token of the configuration'.replaceAll(' ', '-')
  const daemon = startDaemon(folder, { env: { MILLRACE_TOKEN: token } })
  await (await attached(daemon, folder, token)).stats()
  expect(readdirSync(folder)).not.toContain('millrace.db-token')
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended).toMatchObject({ code: 0, stderr: '' })
})

test('T9: PORT and MILLRACE_* from the environment, files beside, flags above', async () => {
  const folder = temporaryFolder()
  const first = startDaemon(folder, {
    env: { PORT: '1', MILLRACE_FILE: 'other.db', MILLRACE_QUEUES: '{"mail":{"maxLength":5,"defaults":{"priority":2}}}' },
  })
  const { file } = await first.serving
  expect(file).toBe('other.db')
  expect(readdirSync(folder)).toContain('other.db')
  first.child.kill('SIGTERM')
  await first.ended
})

test.each<[string, Parameters<typeof startDaemon>[1], RegExp]>([
  ['an unknown flag', { flags: { 'http-prt': 1 } }, /unknown flag '--http-prt': did you mean '--http-port'/],
  ['an unknown variable', { env: { MILLRACE_FIEL: 'x' } }, /unknown variable 'MILLRACE_FIEL'/],
  ['a wrong value', { flags: { 'shutdown-timeout': 'soon' } }, /'shutdown.timeout' in --shutdown-timeout/],
  ['an address that others reach', { flags: { 'http-host': '0.0.0.0' } }, /others can reach http.host 0.0.0.0: set tls.key/],
  ['a socket that others reach', { flags: { listen: 'tcp://0.0.0.0:0' } }, /others can reach 0.0.0.0/],
  ['a key without its certificate', { flags: { 'tls-key': 'key.pem' } }, /TLS requires 'tls.key' and 'tls.cert'/],
  ['a module that is not there', { flags: { 'worker-handlers': './none.ts' } }, /'worker.handlers': .\/none.ts cannot be loaded/],
  [
    'a command that cannot be',
    { env: { MILLRACE_EXEC: '{"a":{"file":"relative"}}' } },
    /'exec': commands\['a'\].file must be an absolute path/,
  ],
  [
    'a secret that is none',
    { env: { MILLRACE_WEBHOOKS_ENABLED: 'true', MILLRACE_WEBHOOKS_SECRETS: '{"a":"whsec_YWJj"}' } },
    /'webhooks': secrets.a must have 24 to 64 bytes/,
  ],
  [
    'an endpoint that is none',
    { env: { MILLRACE_WEBHOOKS_ENABLED: 'true', MILLRACE_ENDPOINTS: '{"a":{"url":"nowhere","events":["completed"]}}' } },
    /'endpoints.a': /,
  ],
  [
    'a schedule that the engine refuses',
    { env: { MILLRACE_SCHEDULES: '{"a":{"every":"1s","job":"x","options":{"delay":5}}}' } },
    /'schedules.a': the job of a schedule takes no delay/,
  ],
])('%s: exit code 2, and why', async (_what, options, why) => {
  const daemon = startDaemon(temporaryFolder(), options)
  const { code, stderr } = await daemon.ended
  expect([code, stderr]).toEqual([2, expect.stringMatching(why)])
  expect(stderr).toMatch(/^(?:millrace: .+ \([A-Z_]+\)\n)+$/)
})

test('what is stated is served: another host, with allowInsecure', async () => {
  const daemon = startDaemon(temporaryFolder(), { flags: { 'http-host': '0.0.0.0', 'http-allow-insecure': 'true' } })
  const { url } = await daemon.serving
  expect((await fetch(`${url.replace('0.0.0.0', '127.0.0.1')}/healthz`)).status).toBe(200)
})

test('a port, or a socket, in use: exit code 5, and the one that has it goes on', async () => {
  const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()]
  const daemon = startDaemon(folder)
  const { url } = await daemon.serving
  const byPort = await startDaemon(elsewhere, { flags: { 'http-port': new URL(url).port } }).ended
  expect([byPort.code, byPort.stderr]).toEqual([5, expect.stringContaining('ADDRESS_IN_USE')])
  const bySocket = await startDaemon(folder).ended
  expect([bySocket.code, bySocket.stderr]).toEqual([5, expect.stringContaining('ADDRESS_IN_USE')])
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  await expect(connect(`unix:${join(elsewhere, 'millrace.db-socket')}`, { connectTimeout: 200 })).rejects.toBeInstanceOf(ConnectFailedError)
})
