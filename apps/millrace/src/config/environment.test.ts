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
  expect(flagsOf(['--file', 'a.db', '--http-port=80', '--config', 'x.toml', '--log-level=a=b'])).toEqual({
    flags: { file: 'a.db', 'http.port': '80', 'log.level': 'a=b' },
    configFile: 'x.toml',
  })
  expect(() => flagsOf(['--http-prt', '1'])).toThrow("unknown flag '--http-prt': did you mean '--http-port'?")
  expect(() => flagsOf(['--file'])).toThrow('--file requires a value')
})

test.each([
  [['--token', 'mr_secret'], '--token', 'token', 'MILLRACE_TOKEN'],
  [['--token=mr_secret'], '--token', 'token', 'MILLRACE_TOKEN'],
  [['--webhooks-secrets', '{"a":"mr_secret"}'], '--webhooks-secrets', 'webhooks.secrets', 'MILLRACE_WEBHOOKS_SECRETS'],
  [['--exec', '{"ok":{"file":"/x"},"a":{"env":{"set":{"K":"mr_secret"}}}}'], '--exec', 'exec.a.env.set', 'MILLRACE_EXEC'],
  [['--endpoints', '{"a":{"headers":{"k":"mr_secret"}}}'], '--endpoints', 'endpoints.a.headers', 'MILLRACE_ENDPOINTS'],
])('a secret is no argument: %j', (argv, flag, key, variable) => {
  const message = `${flag} shows the secret '${key}' to every user of this machine, in the list of its processes: set it in ${variable} or`
  expect(() => flagsOf(argv)).toThrow(expect.objectContaining({ code: 'CONFIG', message: expect.stringContaining(message) }))
  expect(() => flagsOf(argv)).not.toThrow(/mr_secret/)
})

test('what only names a secret, or has a place for one, is an argument', () => {
  const exec = '{"a":{"file":"/bin/true","env":{"inherit":["PATH"]}}}'
  const endpoints = '{"a":{"url":"https://a.example","secret":"one"}}'
  const argv = ['--exec', exec, '--endpoints', endpoints, '--tls-key', 'key.pem', '--queues', 'no JSON']
  expect(flagsOf(argv).flags).toEqual({ exec, endpoints, 'tls.key': 'key.pem', queues: 'no JSON' })
})
