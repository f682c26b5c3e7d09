// Values of settings as people read them, and write them again.
import { checkOf, type Kind, LIMITS, QUEUE_OPTIONS, type Row } from '@millrace/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { writtenOf } from '../written.ts'
import { settingText } from './setting.ts'

const ROWS: readonly (readonly [string, Row])[] = Object.entries<Row>(QUEUE_OPTIONS)
const RATE = { limit: 100, period: '60s' }

test.each<[keyof typeof QUEUE_OPTIONS, unknown, string]>([
  ['alertAfter', '60m', '1h'],
  ['alertAfter', 90_000, '90s'],
  ['alertAfter', 1_500, '1500ms'],
  ['deadLetter', 'dead', 'dead'],
  ['onFull', 'drop-oldest', 'drop-oldest'],
  ['rateLimit', RATE, '100/1m'],
  ['rateLimit', { ...RATE, burst: 20 }, '100/1m:20'],
  ['sharedLimit', { name: 'smtp', limit: 5 }, 'smtp:5'],
  ['keyTiers', { gold: { perKeyRateLimit: RATE } }, '{"gold":{"perKeyRateLimit":{"limit":100,"period":"1m","burst":100}}}'],
  ['retention', { completed: '24h', failed: 'forever' }, '{"completed":"1d","failed":"forever"}'],
  ['retention', { failed: { age: 'forever', count: 9 } }, '{"failed":{"age":"forever","count":9}}'],
  ['retention', { failed: { age: '1d', count: 'forever' } }, '{"failed":{"age":"1d","count":"forever"}}'],
  ['defaults', { timeout: Number.POSITIVE_INFINITY, ttl: '90s', keep: 'forever' }, '{"timeout":null,"ttl":"90s","keep":"forever"}'],
  ['defaults', { backoff: { type: 'fixed', delay: 5_000 } }, '{"backoff":{"type":"fixed","delay":"5s"}}'],
])('%s %j is printed as %s', (name, value, text) => {
  const kind: Kind = QUEUE_OPTIONS[name].kind
  expect(settingText(kind, checkOf(kind)(name, value))).toBe(text)
})

test('what a newer engine has is printed as JSON', () => {
  expect(settingText(undefined, { after: 5 })).toBe('{"after":5}')
  expect(settingText(QUEUE_OPTIONS.defaults.kind, { later: 5, ttl: 1_000 })).toBe('{"later":5,"ttl":"1s"}')
})

/** Values as a call takes them. */
function valuesOf(kind: Kind): fc.Arbitrary<unknown> {
  switch (kind.type) {
    case 'name':
      return fc.constantFrom('mail', 'a:b', '7')
    case 'integer':
      return fc.integer({ min: kind.min, max: kind.max })
    case 'duration':
      return fc.oneof(
        fc.integer({ min: kind.min, max: kind.max ?? LIMITS.durationMs }),
        fc.constantFrom(
          '1ms',
          '90s',
          '2h',
          '1w',
          ...(kind.endless ? [Number.POSITIVE_INFINITY] : []),
          ...(kind.forever ? ['forever'] : []),
        ),
      )
    case 'choice':
      return fc.constantFrom(...kind.words.filter((word) => word !== kind.absence))
    case 'backoff':
      return fc.record(
        { type: fc.constantFrom('fixed', 'linear'), delay: fc.nat(), maxDelay: fc.nat(), jitter: fc.constantFrom('full', 0.2) },
        { requiredKeys: ['type', 'delay'] },
      )
    case 'keep':
      return fc.oneof(
        fc.constantFrom('forever', '1d', '90s'),
        fc.record(
          { age: fc.constantFrom('forever', '36h'), count: fc.constantFrom('forever', 0, kind.preset.count) },
          { requiredKeys: ['age'] },
        ),
      )
    case 'record': {
      const fields = Object.entries(kind.fields)
      const required = fields.filter(([, field]) => field.required).map(([name]) => name)
      const values = fc.record(Object.fromEntries(fields.map(([name, field]) => [name, valuesOf(field.kind)])), { requiredKeys: required })
      return values.filter((value) => kind.some === undefined || Object.keys(value).length > 0)
    }
    case 'tiers':
      return fc.dictionary(fc.constantFrom('gold', 'trial'), valuesOf(kind.of), { minKeys: 1 })
    default:
      throw new Error(`no setting has been of the kind ${kind.type}`)
  }
}

test.each(ROWS)('%s is printed as its flag reads it', (name, { kind }) => {
  const check = checkOf<Kind>(kind)
  fc.assert(
    fc.property(valuesOf(kind), (given) => {
      const value = check(name, given)
      const text = settingText(kind, value)
      expect(check(name, (writtenOf(kind).parse ?? String)(text)), text).toEqual(value)
    }),
  )
})
