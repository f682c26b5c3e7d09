import { expect, test } from 'vitest'
import { defineJob } from './define.ts'

test('a definition is frozen, holds its defaults, and makes handlers of both kinds', () => {
  const backoff = () => 5
  const job = defineJob({ name: 'a', queue: 'q', maxAttempts: 2, timeout: '1m', backoff })
  expect(job).toMatchObject({ name: 'a', defaults: { queue: 'q', maxAttempts: 2, timeout: 60_000 }, backoff, schema: undefined })
  expect([Object.isFrozen(job), Object.isFrozen(job.defaults)]).toEqual([true, true])
  const run = () => 1
  expect(job.handler(run)).toEqual({ kind: 'inline', definition: job, run })
  const url = new URL('./testing/modules/echo.ts', import.meta.url)
  expect(job.thread(url, { threads: 3 })).toMatchObject({ kind: 'thread', definition: job, url: url.href, settings: { threads: 3 } })
  expect(job.thread(url.href)).toMatchObject({ url: url.href })
})

test('handlers of one module and equal options have one key, and so one pool', () => {
  const [a, b] = [defineJob({ name: 'a' }), defineJob({ name: 'b' })]
  const url = new URL('./testing/modules/echo.ts', import.meta.url)
  expect(a.thread(url).key).toBe(b.thread(url, { threads: 2 }).key)
  expect(a.thread(url).key).not.toBe(a.thread(url, { threads: 3 }).key)
})

test.for<readonly [what: string, make: () => unknown, message: RegExp]>([
  ['a name that is none', () => defineJob({ name: 'a b' }), /name/],
  ['an unknown option', () => defineJob({ name: 'a', retries: 3 } as never), /retries/],
  ['a schema that is none', () => defineJob({ name: 'a', schema: {} as never }), /Standard Schema/],
  ['a handler that is no function', () => defineJob({ name: 'a' }).handler(5 as never), /the handler of job 'a' must be a function/],
  ['a module that is no file', () => defineJob({ name: 'a' }).thread('./resize.ts'), /thread takes the URL of a module/],
  ['a module elsewhere', () => defineJob({ name: 'a' }).thread('https://example.org/x.js'), /thread takes the URL of a module/],
  ['no module', () => defineJob({ name: 'a' }).thread(undefined as never), /thread takes the URL of a module/],
  ['no threads', () => defineJob({ name: 'a' }).thread(new URL('file:///x.js'), { threads: 0 }), /threads/],
])('%s is refused at once', ([, make, message]) => {
  expect(make).toThrow(message)
})
