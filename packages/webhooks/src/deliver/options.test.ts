import { expect, test } from 'vitest'
import { checkTarget } from '../safety/target.ts'
import { webhookHandler } from './handler.ts'
import { validateHandlerOptions, type WebhookHandlerOptions } from './options.ts'

test.each<[string, unknown, string]>([
  ['secret', {}, 'secret'],
  ['secrets', 'whsec_', 'secrets'],
  ['secrets', { shop: 'whsec_AAAA' }, 'secrets.shop'],
  ['secrets', { shop: [] }, 'secrets.shop'],
  ['secrets', { shop: { keys: [], hosts: ['example.com'] } }, 'secrets.shop.keys'],
  ['secrets', { shop: { keys: `whsec_${'A'.repeat(32)}` } }, 'secrets.shop.hosts'],
  ['secrets', { shop: { keys: `whsec_${'A'.repeat(32)}`, hosts: 'example.com' } }, 'secrets.shop.hosts'],
  ['secrets', { shop: { keys: `whsec_${'A'.repeat(32)}`, hosts: ['https://example.com'] } }, 'secrets.shop.hosts[0]'],
  ['secrets', { shop: { keys: `whsec_${'A'.repeat(32)}`, host: ['example.com'] } }, 'host'],
  ['allowPrivate', 'no', 'allowPrivate'],
  ['allowHttp', 1, 'allowHttp'],
  ['ports', 443, 'ports'],
  ['ports', [0], 'ports[0]'],
  ['ports', [65_536], 'ports[0]'],
  ['allowHosts', 'example.com', 'allowHosts'],
  ['allowHosts', ['https://example.com/'], 'allowHosts[0]'],
  ['allowHosts', ['*'], 'allowHosts[0]'],
  ['allowHosts', ['example.com', 'example.com:8443'], 'allowHosts[1]'],
  ['allowHosts', ['example.com:443'], 'allowHosts[0]'],
  ['allowHosts', ['[::1]:443'], 'allowHosts[0]'],
  ['allowHosts', ['user@example.com'], 'allowHosts[0]'],
  ['allowHosts', ['*.127.0.0.1'], 'allowHosts[0]'],
  ['allowHosts', ['.'], 'allowHosts[0]'],
  ['perHost', 0, 'perHost'],
  ['perHost', 1.5, 'perHost'],
  ['hostWait', 0, 'hostWait'],
  ['hostWait', '31s', 'hostWait'],
  ['timeout', 0, 'timeout'],
  ['timeout', '25h', 'timeout'],
  ['maxTimeout', '14s', 'maxTimeout'],
  ['maxTimeout', '25h', 'maxTimeout'],
  ['connectTimeout', 'soon', 'connectTimeout'],
  ['maxResponseBytes', 163_841, 'maxResponseBytes'],
  ['maxBodyBytes', -1, 'maxBodyBytes'],
  ['userAgent', '', 'userAgent'],
  ['userAgent', 'two\nlines', 'userAgent'],
  ['userAgent', '€', 'userAgent'],
  ['ca', 5, 'ca'],
  ['ca', '/etc/ssl/ca.pem', 'ca'],
  ['ca', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', 'ca'],
  ['lookup', 'dns', 'lookup'],
  ['propagate', {}, 'propagate'],
  ['gone', true, 'gone'],
])('refused, and named: %s = %j', (name, value, option) => {
  expect(() => webhookHandler({ [name]: value } as WebhookHandlerOptions)).toThrow(expect.objectContaining({ option }))
})

test('a host is named as a URL may name it', () => {
  const allowHosts = ['Bücher.example', 'example.com.', '[::1]', '2001:DB8::1', '0x7f.1', '*.Straße.example']
  const rules = validateHandlerOptions({ allowHosts, allowPrivate: true, ports: 'any' })
  for (const host of ['bücher.example', 'EXAMPLE.com:8443', '[0::1]', '[2001:db8::1]', '127.0.0.1', 'a.straße.example.'])
    expect(() => checkTarget(new URL(`https://${host}/`), rules), host).not.toThrow()
  for (const host of ['bucher.example', 'a.example.com', '[::2]', '127.0.0.2', 'straße.example'])
    expect(() => checkTarget(new URL(`https://${host}/`), rules), host).toThrow(/allowHosts/)
})

const secret = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`

test('5.3: one secret is of one name, also while it takes over; its text is not told', () => {
  const secrets = { shop: [secret(1), secret(2)], other: secret(3), bank: [secret(4), secret(2)] }
  expect(() => webhookHandler({ secrets })).toThrow(
    expect.objectContaining({ code: 'OPTION_TYPE', option: 'secrets.bank', message: expect.stringContaining('a secret of secrets.shop') }),
  )
  expect(() => webhookHandler({ secrets })).not.toThrow(new RegExp(secret(2)))
  expect(() => webhookHandler({ secrets: { ...secrets, bank: secret(4) } })).not.toThrow()
  expect(() => webhookHandler({ secrets: { ...secrets, bank: { keys: secret(2), hosts: '*' } } })).toThrow(/secrets\.bank/)
  // Without the signs at its end it is the same.
  expect(() => webhookHandler({ secrets: { a: secret(5), b: secret(5).replace(/=+$/, '') } })).toThrow(/secrets\.b/)
})

test('none is needed', () => {
  expect(webhookHandler()).toMatchObject({ kind: 'inline', definition: { name: 'http' } })
})
