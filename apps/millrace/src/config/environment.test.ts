import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readEnvironment, readFlags } from './environment.ts'
import { flagsOf } from './flags.ts'
import { flagOf, KEYS, SETTABLE, variableOf } from './keys.ts'

test('every setting has a variable and a flag of its own', () => {
  expect(new Set(SETTABLE.map(variableOf)).size).toBe(SETTABLE.length)
  expect(new Set(SETTABLE.map(flagOf)).size).toBe(SETTABLE.length)
  expect([variableOf('http.maxBodyBytes'), flagOf('http.maxBodyBytes')]).toEqual(['MILLRACE_HTTP_MAX_BODY_BYTES', '--http-max-body-bytes'])
})

test('a variable and a flag of the same text are read as the same value', () => {
  const value = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.integer().map(String),
    fc.boolean().map(String),
    fc.json(),
    fc.constantFrom('1d', '5m', 'a,b', 'Infinity'),
  )
  fc.assert(
    fc.property(fc.constantFrom(...SETTABLE.filter((key) => KEYS.some((known) => known.key === key))), value, (key, text) => {
      const [variable] = readEnvironment({ [variableOf(key)]: text })
      const [flag] = readFlags({ [key]: text })
      expect(variable?.values).toEqual(flag?.values)
      expect(variable?.origin).toEqual({ layer: 'environment', name: variableOf(key) })
    }),
  )
})

test('a value that a setting takes comes back from its text', () => {
  const cases: readonly (readonly [string, unknown, fc.Arbitrary<unknown>])[] = [
    ['http.port', Number, fc.integer({ min: 0, max: 65_535 })],
    ['http.enabled', Boolean, fc.boolean()],
    ['listen', Array, fc.array(fc.stringMatching(/^tcp:\/\/[a-z]+:\d+$/), { minLength: 1 })],
    ['webhooks.ports', Array, fc.array(fc.integer({ min: 1, max: 65_535 }), { minLength: 1 })],
    ['waitForOwner', Number, fc.integer({ min: 0, max: 86_400_000 })],
    ['file', String, fc.stringMatching(/^[^,]+$/)],
  ]
  for (const [key, , values] of cases) {
    fc.assert(
      fc.property(values, (value) => {
        const texts = Array.isArray(value) ? [value.join(','), JSON.stringify(value)] : [String(value)]
        for (const text of texts) {
          const [layer] = readEnvironment({ [variableOf(key)]: text })
          expect(key.split('.').reduce((inner, part) => (inner as Record<string, unknown>)[part], layer?.values)).toEqual(value)
        }
      }),
    )
  }
})

test('arguments are settings, or refused', () => {
  expect(flagsOf(['--file', 'a.db', '--http-port=80', '--config', 'x.toml', '--token=a=b'])).toEqual({
    flags: { file: 'a.db', 'http.port': '80', token: 'a=b' },
    configFile: 'x.toml',
  })
  expect(() => flagsOf(['--http-prt', '1'])).toThrow("unknown flag '--http-prt': did you mean '--http-port'?")
  expect(() => flagsOf(['--file'])).toThrow('--file needs a value')
})
