import { expect, test } from 'vitest'
import { formatAddress, isLoopback, parseAddress } from './address.ts'

test.each([
  ['unix:/run/app.sock', { kind: 'unix', path: '/run/app.sock' }],
  ['unix:///run/app.sock', { kind: 'unix', path: '/run/app.sock' }],
  ['tcp://127.0.0.1:7411', { kind: 'tcp', host: '127.0.0.1', port: 7411 }],
  ['tcp://127.0.0.1:0', { kind: 'tcp', host: '127.0.0.1', port: 0 }],
  ['tcp://[::1]:7411', { kind: 'tcp', host: '::1', port: 7411 }],
  ['tls://queue.example:443', { kind: 'tls', host: 'queue.example', port: 443 }],
])('%s', (url, address) => {
  expect(parseAddress(url)).toEqual(address)
})

test.each(['tcp://127.0.0.1:7411', 'tcp://[::1]:7411', 'unix:/run/app.sock'])('%s is told as it was given', (url) => {
  expect(formatAddress(parseAddress(url))).toBe(url)
})

test('a path counts from where the process is', () => {
  expect(parseAddress('unix:app.sock')).toEqual({ kind: 'unix', path: `${process.cwd()}/app.sock` })
})

test.each([
  'http://127.0.0.1:80',
  '/run/app.sock',
  'unix:',
  'unix:/run/a\0b',
  'tcp://127.0.0.1',
  'tcp://:7411',
  'tcp://127.0.0.1:99999',
  'tcp://user:secret@127.0.0.1:7411',
  'tcp://127.0.0.1:7411/path',
  'tcp://127.0.0.1:7411?token=x',
  7411,
  undefined,
])('%s is none', (url) => {
  expect(() => parseAddress(url)).toThrow(expect.objectContaining({ code: 'OPTION_TYPE', option: 'url' }))
})

test('a path that systems would cut is refused, with where to put it instead', () => {
  expect(() => parseAddress(`unix:/${'x'.repeat(100)}`)).toThrow(
    expect.objectContaining({ code: 'OPTION_RANGE', limit: 100, message: expect.stringContaining('$XDG_RUNTIME_DIR') }),
  )
  expect(() => parseAddress(`unix:/${'ä'.repeat(50)}`)).toThrow(/101/)
  expect(parseAddress(`unix:/${'x'.repeat(99)}`).kind).toBe('unix')
})

test('pipes are of Windows, Unix sockets of all others', () => {
  expect(() => parseAddress('pipe:app', 'linux')).toThrow(/unix:/)
  expect(() => parseAddress('unix:/run/app.sock', 'win32')).toThrow(/pipe:name/)
  expect(parseAddress('unix:/run/app.sock', 'darwin').kind).toBe('unix')
})

test.each([
  ['pipe:app', String.raw`\\.\pipe\app`],
  ['pipe:My_App.jobs-2', String.raw`\\.\pipe\My_App.jobs-2`],
])('%s is %s, and is told as it was given', (url, path) => {
  const address = parseAddress(url, 'win32')
  expect(address).toEqual({ kind: 'pipe', path })
  expect(formatAddress(address)).toBe(url)
})

test.each(['pipe:', 'pipe:a/b', String.raw`pipe:a\b`, String.raw`pipe:\\.\pipe\app`, 'pipe:ä', `pipe:${'x'.repeat(129)}`])(
  '%s is none',
  (url) => {
    expect(() => parseAddress(url, 'win32')).toThrow(expect.objectContaining({ code: 'OPTION_TYPE', option: 'url' }))
  },
)

test('the path of a pipe is no url', () => {
  expect(() => parseAddress(String.raw`\\.\pipe\app`, 'win32')).toThrow(/'pipe:name'/)
})

test('only what this machine alone reaches is loopback', () => {
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) expect(isLoopback(host), host).toBe(true)
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example', 'localhost.example', '127.1', '::ffff:127.0.0.1'])
    expect(isLoopback(host), host).toBe(false)
})
