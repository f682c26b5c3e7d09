import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createLogger, type LogOptions } from './logger.ts'

function written(options: Partial<LogOptions>, log: (logger: ReturnType<typeof createLogger>) => void, isTTY = false): string {
  const out = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream
  log(createLogger({ level: 'info', format: 'json', redact: [], ...options }, out))
  return String((out as unknown as PassThrough).read() ?? '')
}

test('M12: json: an object a line, with the time, the level and the fields', () => {
  const line = written({}, (logger) => logger.warn('something', { queue: 'mail' }))
  expect(JSON.parse(line)).toMatchObject({ level: 40, msg: 'something', queue: 'mail', time: expect.stringMatching(/^\d{4}-.*Z$/) })
})

test('M12: a level writes what is at or above it', () => {
  const all = (logger: ReturnType<typeof createLogger>) => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level](level)
  }
  const messages = (text: string) => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).msg]))
  expect(messages(written({ level: 'debug' }, all))).toEqual(['debug', 'info', 'warn', 'error'])
  expect(messages(written({ level: 'warn' }, all))).toEqual(['warn', 'error'])
  expect(written({ level: 'silent' }, all)).toBe('')
})

test.each<[LogOptions['format'], boolean, boolean]>([
  ['json', true, false],
  ['pretty', false, true],
  ['auto', false, false],
  ['auto', true, true],
])('format %s, on a terminal %s: for people %s', (format, isTTY, forPeople) => {
  const text = written({ format }, (logger) => logger.info('hello', { port: 5 }), isTTY)
  expect(text).toContain('hello')
  expect(text.startsWith('{')).toBe(!forPeople)
})

const SECRET = 'mr_not_to_be_seen'

test.each([
  { token: SECRET },
  { headers: { authorization: `Bearer ${SECRET}` } },
  { request: { headers: { cookie: SECRET, 'set-cookie': SECRET } } },
  { a: { b: { c: { secret: SECRET } } } },
  { webhooks: { secrets: { one: SECRET } } },
])('%j is not written, in either format', (fields) => {
  for (const format of ['json', 'pretty'] as const) {
    const text = written({ format }, (logger) => logger.info('hello', fields))
    expect(text).toContain('[redacted]')
    expect(text).not.toContain(SECRET)
  }
})

test('configured paths are not written, what is beside them is', () => {
  const text = written({ redact: ['job.data.password', '*.email'] }, (logger) =>
    logger.info('hello', { job: { data: { password: SECRET, name: 'kept' } }, user: { email: SECRET, name: 'kept' } }),
  )
  expect(text).not.toContain(SECRET)
  expect(text.match(/kept/g)).toHaveLength(2)
})

test.each(['', 'a..b', 'a[', '[*'])('%j is no path to redact', (path) => {
  expect(() => written({ redact: ['fine.path', path] }, () => {})).toThrow(
    expect.objectContaining({ code: 'CONFIG', message: expect.stringContaining(JSON.stringify(path)) }),
  )
})

test.each(['json', 'pretty'] as const)('format %s: what a terminal would obey is written out', (format) => {
  const hostile = 'x\n\u001b[31m\u009b2J\u007f\u202efake: row'
  const text = written({ format }, (logger) => logger.warn(hostile, { name: hostile, error: hostile, list: [hostile] }))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come out.
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/)
  expect(text).not.toMatch(/^\s*\W*fake: row/m)
  if (format === 'json') expect(JSON.parse(text)).toMatchObject({ msg: hostile, error: hostile })
})
