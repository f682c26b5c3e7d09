// What flags say, as values: whatever is wrong about them is left for the engine to refuse by name.

import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { JobActiveError, OptionRangeError, StorageBusyError } from '@millrace/core'
import { type Job, openEngine } from '@millrace/engine'
import { Command, InvalidArgumentError } from 'commander'
import { expect, onTestFinished, test } from 'vitest'
import { exitCodeOf } from '../exit.ts'
import { explain, linesOf } from './explain.ts'
import { addFilters } from './filterFlags.ts'
import { exportedJob, importedJob } from './imported.ts'
import { addJobFlags, enqueueOptionsOf } from './jobFlags.ts'
import { linesOf as linesOfStream } from './lines.ts'
import { targetOf } from './target.ts'
import { dataOf, duration, json, NONE, names, number, orNone, time } from './values.ts'
import { backoff } from './written.ts'

test('numbers, durations, times, lists, and none', () => {
  expect([number('12'), number('-3'), number('x'), number('')]).toEqual([12, -3, 'x', ''])
  expect([duration('0'), duration('5m'), duration('none'), duration('soon')]).toEqual([0, '5m', Number.POSITIVE_INFINITY, 'soon'])
  for (const text of ['5', '250', '0.5']) expect(() => duration(text)).toThrow(`write ${text}s for seconds, or ${text}ms for milliseconds`)
  expect(time('2040-01-02T03:04+01:00').toISOString()).toBe('2040-01-02T02:04:00.000Z')
  expect(time('1700000000000').getTime()).toBe(1_700_000_000_000)
  expect(names('b,c', ['a'])).toEqual(['a', 'b', 'c'])
  expect([orNone(number)('none'), orNone(number)('3')]).toEqual([NONE, 3])
  expect(() => json('{')).toThrow(InvalidArgumentError)
})

test.each(['2026-11-31T00:00:00Z', '2030-02-29T00:00:00Z', '2030-01-01T00:00', '2030-01-01', '1 Jan 2030', 'tomorrow', '-5', ''])(
  'no time: "%s" is refused, with what is allowed',
  (text) => {
    const command = addFilters(new Command('delete'))
      .exitOverride()
      .configureOutput({ outputError: () => {} })
    const message = `argument '${text}' is invalid. A time is ISO 8601 with its zone, on a day that exists (2030-01-31T12:00:00Z, `
    expect(() => command.parse(['--enqueued-before', text], { from: 'user' })).toThrow(message)
  },
)

test('a time that no Date can hold is refused with the range', () => {
  expect(() => time('8640000000000001')).toThrow('The time must be between 1970 and the last instant of a Date')
})

test.each([
  ['fixed:5s', { type: 'fixed', delay: '5s' }],
  ['exponential:1s:2:1h', { type: 'exponential', delay: '1s', factor: 2, maxDelay: '1h' }],
  ['{"type":"linear","delay":5}', { type: 'linear', delay: 5 }],
  ['nothing', { type: 'nothing' }],
])('backoff %s', (text, options) => {
  expect(backoff(text)).toEqual(options)
})

test('the flags of a job become the options of enqueue, only those that were given', () => {
  const command = addJobFlags(new Command('enqueue')).exitOverride()
  command.parse(['--priority', '5', '--unique', 'u', '--on-conflict', 'error', '--tag', 'a,b', '--tag', 'c', '--timeout', 'none'], {
    from: 'user',
  })
  expect(enqueueOptionsOf(command.opts())).toEqual({
    priority: 5,
    unique: { key: 'u', onConflict: 'error' },
    tags: ['a,b', 'c'],
    timeout: Number.POSITIVE_INFINITY,
  })
  expect(enqueueOptionsOf({})).toEqual({})
})

test('where it goes: flags before the environment, and there a URL before a file', () => {
  const env = { MILLRACE_FILE: '/a/jobs.db', MILLRACE_URL: 'unix:/a/s', MILLRACE_TOKEN: 't'.repeat(16) }
  expect(targetOf({}, env)).toEqual({ kind: 'url', url: 'unix:/a/s', token: 't'.repeat(16) })
  expect(targetOf({ file: '/b.db' }, env)).toEqual({ kind: 'file', file: '/b.db' })
  expect(targetOf({ url: 'unix:/b', token: 'x' }, env)).toEqual({ kind: 'url', url: 'unix:/b', token: 'x' })
  expect(targetOf({}, { MILLRACE_FILE: '/a/jobs.db', MILLRACE_URL: '' })).toEqual({ kind: 'file', file: '/a/jobs.db' })
  expect(targetOf({}, {})).toMatchObject({ file: expect.stringMatching(/\/millrace\.db$/) })
  expect(() => targetOf({ file: 'a', url: 'unix:/b' }, {})).toThrow(/exclude each other/)
  expect(() => targetOf({ token: 'x' }, {})).toThrow(/--token requires --url/)
  expect(() => targetOf({ file: ':memory:' }, {})).toThrow(/must name a file on disk/)
})

test('an error names the flag or the argument that it is about', () => {
  const command = addJobFlags(new Command('enqueue')).argument('<name>')
  const messageOf = (option: string) => explain(new OptionRangeError(option, 1, 'is wrong'), command).message
  expect(messageOf('maxAttempts')).toBe('--max-attempts: is wrong')
  expect(messageOf('unique.key')).toBe('--unique: is wrong')
  expect(messageOf('tags[0]')).toBe('--tag: is wrong')
  expect(messageOf('debounce.delay')).toBe('--debounce-delay: is wrong')
  expect(messageOf('unique.by[0]')).toBe('--unique-by: is wrong')
  expect(messageOf('name')).toBe('<name>: is wrong')
  expect(messageOf('data')).toBe('is wrong')
})

test('one line for people, one object for programs, and the code that ends the process', () => {
  const late = explain(new JobActiveError('it\nruns'), undefined)
  expect(late).toMatchObject({ exit: 4, code: 'JOB_ACTIVE' })
  expect(linesOf(late, false)).toBe('millrace: it\\nruns (JOB_ACTIVE)')
  expect(JSON.parse(linesOf(late, true))).toEqual({ error: { code: 'JOB_ACTIVE', message: 'it\nruns' } })
  expect(explain(new StorageBusyError(), undefined).exit).toBe(5)
  expect(explain(new Error('bug'), undefined)).toEqual({ exit: 1, code: 'INTERNAL', message: 'Error: bug' })
  expect([exitCodeOf({ retryable: true }), exitCodeOf({})]).toEqual([5, 1])
})

test('lines come with each piece of the stream, numbered as an editor would', async () => {
  const found: string[][] = []
  for await (const lines of linesOfStream(streamOf('a\n\nb', 'c\r\n', '  \nlast')))
    found.push(lines.map(({ number: at, text }) => `${at} ${text}`))
  expect(found).toEqual([['1 a'], ['3 bc'], [], ['5 last']])
})

test('a character that comes in two pieces is one; bytes that are no UTF-8 are told of', async () => {
  const whole = Buffer.concat([Buffer.from('žluť\n'), Buffer.from([0x22, 0xff, 0x22, 0x0a]), Buffer.from('\u{1F642}')])
  for (const size of [1, 2, 3, 100]) {
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) => whole.subarray(at * size, (at + 1) * size))
    const found: unknown[] = []
    for await (const lines of linesOfStream(streamOf(...pieces))) found.push(...lines)
    expect(found).toEqual([
      { number: 1, text: 'žluť', exact: true },
      { number: 2, text: '"\ufffd"', exact: false },
      { number: 3, text: '\u{1F642}', exact: true },
    ])
  }
})

function streamOf(...pieces: (string | Buffer)[]): NodeJS.ReadableStream {
  return Readable.from(pieces.map((piece) => Buffer.from(piece)))
}

test('what is exported is imported as it was, whatever its data looks like', async () => {
  const engine = await openEngine({ file: ':memory:' })
  onTestFinished(() => engine.stop())
  const all = [new Uint8Array([1, 2]), { base64: 'AQI=' }, new Uint8Array(), 'text', null]
  for (const data of all) {
    const { id } = await engine.enqueue('mail', data)
    const line = JSON.parse(JSON.stringify(exportedJob((await engine.get(id)) as Job)))
    const again = await engine.enqueueMany([importedJob(line)])
    expect((await engine.get(again[0]?.id as string))?.data).toEqual((await engine.get(id))?.data)
  }
})

test('a line of an import: a job as it is asked for, or one that was exported and begins anew', () => {
  expect(importedJob({ name: 'mail', data: [1], options: { priority: 2 } })).toEqual({ job: 'mail', data: [1], options: { priority: 2 } })
  expect(
    importedJob({
      id: 'x',
      state: 'failed',
      name: 'mail',
      data: { base64: 'AQI=' },
      binary: ['data'],
      queue: 'out',
      timeout: null,
      attempt: 3,
      uniqueKey: 'u',
      runAt: 'x',
      originalRunAt: 'x',
      deadlineAt: 'x',
    }),
  ).toEqual({ job: 'mail', data: new Uint8Array([1, 2]), options: { queue: 'out', timeout: Number.POSITIVE_INFINITY } })
  const data = { base64: 'AQI=' }
  expect(importedJob({ name: 'mail', data })).toEqual({ job: 'mail', data })
  expect(importedJob({ name: 'mail', state: 'failed', data, binary: ['output'] })).toEqual({ job: 'mail', data, options: {} })
  const bytes = { job: 'mail', data: new Uint8Array([1, 2]) }
  expect(importedJob({ job: 'mail', data, binary: ['data'] })).toEqual(bytes)
  expect(importedJob({ name: 'mail', data: 'AQI=', binary: ['data'] })).toEqual(bytes)
  for (const wrong of ['AQI', 1, { base64: 1 }, undefined])
    for (const state of ['failed', undefined])
      expect(() => importedJob({ name: 'mail', state, data: wrong, binary: ['data'] })).toThrow(/^data must be base64/)
  expect(() => importedJob({ name: 'mail', data, binary: 'data' })).toThrow(/"binary" must be an array/)
  expect(() => importedJob({ name: 'mail', data, binary: ['date'] })).toThrow(/"binary" must be an array/)
  expect(() => importedJob([1])).toThrow(/if it is only data, give --name/)
  expect(() => importedJob({ data: 1 })).toThrow(/has no "name"/)
  expect(() => importedJob({ name: 'a', priority: 1, colour: 'red' })).toThrow(/unknown field "colour"/)
})

test('with --binary data is base64, or a file of any bytes', async () => {
  expect(await dataOf('AQI=', true)).toEqual(new Uint8Array([1, 2]))
  expect(await dataOf(`@${import.meta.filename}`, true)).toEqual(new Uint8Array(readFileSync(import.meta.filename)))
  await expect(dataOf('AQI', true)).rejects.toMatchObject({ code: 'OPTION_TYPE', option: 'data' })
  await expect(dataOf(undefined, true)).rejects.toThrow(/give data too/)
})

test('numbers that would change are refused, in data as in flags', async () => {
  await expect(dataOf('{"n":1e400}')).rejects.toMatchObject({ code: 'OPTION_RANGE', option: 'data' })
  await expect(dataOf('[9007199254740993]')).rejects.toThrow(/stored as 9007199254740992/)
  expect(() => json('1e400')).toThrow(expect.objectContaining({ code: 'commander.invalidArgument' }))
  expect(await dataOf('[9007199254740991,"1e400"]')).toEqual([9_007_199_254_740_991, '1e400'])
})
