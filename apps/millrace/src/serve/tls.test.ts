import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SCHEMA } from '../config/schema/schema.ts'
import { tlsRenewal } from './tls.ts'

const CERTIFICATES = new URL('../../../../test/remote/certificates/', import.meta.url)
const text = (name: string) => readFileSync(new URL(name, CERTIFICATES), 'utf8')

/** Files of a certificate, and what is used and logged of them. */
function files() {
  const cwd = mkdtempSync(join(tmpdir(), 'millrace-tls-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  let seconds = 1_000
  const put = (name: string, to: string) => {
    const made = join(cwd, `${to}.new`)
    copyFileSync(new URL(name, CERTIFICATES), made)
    utimesSync(made, ++seconds, seconds)
    renameSync(made, join(cwd, to))
  }
  put('server.key', 'tls.key')
  put('server.crt', 'tls.crt')
  const { tls } = SCHEMA.parse({ tls: { key: 'tls.key', cert: 'tls.crt' } })
  const used: string[] = []
  const logged: string[] = []
  const log =
    (level: string) =>
    (message: string, fields: object = {}) =>
      logged.push(`${level}: ${message} ${JSON.stringify(fields)}`)
  const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
  const look = tlsRenewal(tls, cwd, ({ cert }) => used.push(cert), logger)
  return { cwd, put, used, logged, look }
}

test('a certificate is used when both of its files have changed, and once', () => {
  const { put, used, logged, look } = files()
  look()
  expect([used, logged]).toEqual([[], []])
  put('client.crt', 'tls.crt')
  // The key of another certificate: the replacement is half done.
  for (let looks = 0; looks < 3; looks++) look()
  expect([used, logged]).toEqual([
    [],
    [expect.stringMatching(/^error: the TLS certificate has changed, and cannot be used .*key values mismatch/)],
  ])
  put('client.key', 'tls.key')
  for (let looks = 0; looks < 3; looks++) look()
  expect(used).toEqual([text('client.crt')])
  expect(logged.slice(1)).toEqual(['info: the TLS certificate was read again {"cert":"tls.crt"}'])
})

test('files that are gone for a while, and links that lead elsewhere', () => {
  const { cwd, put, used, logged, look } = files()
  rmSync(join(cwd, 'tls.key'))
  look()
  expect([used, logged]).toEqual([[], [expect.stringContaining("'tls.key' cannot be read")]])
  put('server.key', 'tls.key')
  look()
  expect(used).toEqual([text('server.crt')])
  for (const [name, to] of [
    ['stranger.key', 'tls.key'],
    ['stranger.crt', 'tls.crt'],
  ] as const) {
    rmSync(join(cwd, to))
    put(name, `next-${to}`)
    symlinkSync(`next-${to}`, join(cwd, to))
  }
  look()
  expect(used).toEqual([text('server.crt'), text('stranger.crt')])
})
