import { OptionRangeError, OptionTypeError } from '@millrace/core'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { SignatureInvalidError } from './errors.ts'
import { sign, verify } from './signature.ts'

const secretOf = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString('base64')}`
const secret = secretOf(Buffer.alloc(32, 7))
const other = secretOf(Buffer.alloc(24, 9))
const now = new Date(1_893_456_000_000)
const body = '{"a":1}'
const signed = { ...sign({ id: 'msg-1', timestamp: now, body, secret }) }

const anySecret = fc.uint8Array({ minLength: 24, maxLength: 64 }).map(secretOf)
const anyId = fc.string({ minLength: 1, maxLength: 40 }).map((text) => text.replaceAll('.', '-'))

test('the library of Standard Webhooks makes the same signature', () => {
  fc.assert(
    fc.property(anySecret, anyId, fc.string({ unit: 'grapheme' }), fc.nat(4_000_000_000), (key, id, text, seconds) => {
      const timestamp = new Date(seconds * 1_000)
      expect(sign({ id, timestamp, body: text, secret: key })['webhook-signature']).toBe(new Webhook(key).sign(id, timestamp, text))
    }),
  )
})

test('M3: it takes what we sign, and we take what it signs', () => {
  const at = new Date()
  const ours = sign({ id: 'msg', timestamp: at, body, secret: [other, secret] })
  for (const key of [secret, other]) expect(new Webhook(key).verify(body, { ...ours })).toEqual({ a: 1 })
  const theirs = {
    'webhook-id': 'msg',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('msg', at, body),
  }
  expect(verify({ headers: theirs, body, secret })).toMatchObject({ id: 'msg' })
  expect(verify({ headers: new Headers(theirs), body: Buffer.from(body), secret: [other, secret] })).toMatchObject({ id: 'msg' })
})

test('bytes that are no text are signed as they are', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const headers = { ...sign({ id: 'm', timestamp: now, body: bytes, secret }) }
      expect(verify({ headers, body: bytes, secret, now })).toEqual({ id: 'm', timestamp: now })
    }),
  )
})

test('one secret takes over from another: either side may be first', () => {
  const both = { ...sign({ id: 'm', timestamp: now, body, secret: [secret, other] }) }
  expect(both['webhook-signature'].split(' ')).toHaveLength(2)
  for (const key of [secret, other, [other, secret]]) expect(verify({ headers: both, body, secret: key, now }).id).toBe('m')
})

test.each([
  ['another body', { body: '{"a":2}' }],
  ['another secret', { secret: other }],
  ['another id', { headers: { ...signed, 'webhook-id': 'msg-2' } }],
  ['another time', { headers: { ...signed, 'webhook-timestamp': String(now.getTime() / 1_000 + 1) } }],
  ['no signature', { headers: { ...signed, 'webhook-signature': '' } }],
  ['an unknown version', { headers: { ...signed, 'webhook-signature': signed['webhook-signature'].replace('v1,', 'v2,') } }],
  ['a short signature', { headers: { ...signed, 'webhook-signature': 'v1,AAAA' } }],
  ['a header missing', { headers: { 'webhook-id': 'msg-1' } }],
  ['a time that is none', { headers: { ...signed, 'webhook-timestamp': '1e9' } }],
  ['too old', { now: new Date(now.getTime() + 301_000) }],
  ['of the future', { now: new Date(now.getTime() - 301_000) }],
])('refused: %s', (_what, change) => {
  expect(() => verify({ headers: signed, body, secret, now, ...change })).toThrow(SignatureInvalidError)
})

test('five minutes off is within the tolerance', () => {
  for (const off of [-300_000, 300_000])
    expect(verify({ headers: signed, body, secret, now: new Date(now.getTime() + off) }).id).toBe('msg-1')
})

test.each([
  ['no prefix', 'c2VjcmV0', OptionTypeError],
  ['no base64', 'whsec_%%%', OptionTypeError],
  ['no whole byte', `${secretOf(Buffer.alloc(24))}A`, OptionTypeError],
  ['bits beyond its bytes', `whsec_${'A'.repeat(42)}B`, OptionTypeError],
  ['none', [], OptionRangeError],
  ['too short', secretOf(Buffer.alloc(23)), OptionRangeError],
  ['too long', secretOf(Buffer.alloc(65)), OptionRangeError],
  ['no text', 5 as unknown as string, OptionTypeError],
])('a secret that is none: %s', (_what, wrong, kind) => {
  expect(() => sign({ id: 'm', timestamp: now, body, secret: wrong })).toThrow(kind)
})

test('a secret may lack its padding', () => {
  const padded = secretOf(Buffer.alloc(25))
  const one = (secret: string) => sign({ id: 'm', timestamp: now, body, secret })
  expect(one(padded.replace(/=+$/, ''))).toEqual(one(padded))
})

test('the secret is in no message', () => {
  const short = 'whsec_c2VjcmV0'
  expect(() => sign({ id: 'm', timestamp: now, body, secret: short })).toThrow(expect.not.stringContaining('c2VjcmV0') as never)
})

test.each(['', 'a.b'])("an id that is empty or has a '.' is refused: '%s'", (id) => {
  expect(() => sign({ id, timestamp: now, body, secret })).toThrow(OptionTypeError)
})
