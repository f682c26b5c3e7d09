/** Nothing of what a run says leaves the worker before `redact` has seen it. */
import { LIMITS, type Redact } from '@millrace/core'
import { expect, test } from 'vitest'
import { defineJob } from './define.ts'
import { Redactor } from './redact.ts'
import { stop, workbench } from './testing/workbench.ts'

const hide = (text: string) => text.replace(/\d{4,}/g, '#')
const redact: Redact = ({ message, stack, fields }) => ({
  message: hide(message),
  ...(stack && { stack: hide(stack) }),
  ...(fields && { fields: Object.fromEntries(Object.entries(fields).filter(([name]) => name !== 'card')) }),
})
const a = defineJob({ name: 'a' })
const at = (redactor: Redactor, message: string, fields?: string) =>
  redactor.lines('a', [{ at: 1, level: 'info', message, ...(fields !== undefined && { fields }) }])[0]

test('errors, log lines and notes of a run, and the worker’s own redact comes first', async () => {
  const bench = workbench(
    a.handler(({ log, progress }) => {
      log('info', 'card 4111222', { card: 4_111_222, ok: true })
      progress(0.5, 'at 4111222')
      throw new Error('card 4111222 refused')
    }),
    { redact },
  )
  bench.grant()
  await Promise.resolve()
  const [fail] = bench.calls.of('fail')
  expect(fail).toMatchObject({ error: { name: 'Error', message: 'card # refused', stack: expect.stringContaining('card # refused') } })
  expect(bench.calls.of('log')).toMatchObject([{ lines: [{ message: 'card #', fields: '{"ok":true}' }] }])
  expect(bench.calls.of('progress')).toMatchObject([{ fraction: 0.5, note: 'at #' }])
  expect(JSON.stringify(bench.calls.of('fail'))).not.toContain('4111222')
  await stop(bench)
})

test('a value of progress is kept if redact returns one, and lost with a function that knows none', () => {
  const report = { fraction: 0.5, note: 'of ann', value: '{"to":"ann"}' }
  const blanking = new Redactor(({ message }) => ({ message, value: { to: '#' } }), undefined)
  expect(blanking.progress('a', report)).toEqual({ ...report, value: '{"to":"#"}' })
  expect(new Redactor(({ message }) => ({ message }), undefined).progress('a', report)).toEqual({ fraction: 0.5, note: 'of ann' })
  const large = new Redactor(({ message }) => ({ message, value: 'x'.repeat(LIMITS.progressBytes) }), undefined)
  expect(large.progress('a', report)).toEqual({ fraction: 0.5, note: '[redact has failed: nothing is shown]' })
})

test('is told the kind and the job’s name', () => {
  const seen: unknown[] = []
  const redactor = new Redactor((said) => {
    seen.push(said)
    return said
  }, undefined)
  redactor.error('a', { name: 'E', message: 'm', stack: 's' })
  redactor.error('a', { name: 'E', message: 'm' })
  at(redactor, 'm', '{"x":1}')
  redactor.progress('a', { fraction: 0.5, note: 'n' })
  redactor.progress('a', { fraction: 0.5, value: '{"of":[1]}' })
  redactor.progress('a', { fraction: 0.5 })
  expect(seen).toEqual([
    { kind: 'error', name: 'a', message: 'm', stack: 's' },
    { kind: 'error', name: 'a', message: 'm' },
    { kind: 'log', name: 'a', message: 'm', fields: { x: 1 } },
    { kind: 'progress', name: 'a', message: 'n' },
    { kind: 'progress', name: 'a', message: '', value: { of: [1] } },
  ])
})

test.each([
  [
    'throws',
    () => {
      throw new Error('secret')
    },
  ],
  ['answers nothing', () => undefined],
  ['answers no message', () => ({})],
  ['answers fields that are no JSON', () => ({ message: 'secret', fields: { n: 1n } })],
])('where redact %s, nothing is shown, and the logger hears once', (_what, wrong) => {
  const logged: unknown[] = []
  const log = (...line: unknown[]) => void logged.push(line)
  const redactor = new Redactor(wrong as never, { debug: log, info: log, warn: log, error: log })
  expect(redactor.error('a', { name: 'E', message: 'secret', stack: 'secret' })).toEqual({
    name: 'E',
    message: expect.stringContaining('redact has failed'),
  })
  expect(at(redactor, 'secret', '{"secret":1}')).toEqual({ at: 1, level: 'info', message: expect.stringContaining('redact has failed') })
  expect(logged).toHaveLength(1)
  expect(JSON.stringify(logged)).not.toContain('secret')
})

test('the code of an error and each of its causes is asked about by itself, and hidden where redact fails', () => {
  const error = { name: 'E', message: 'at 4111222', code: '4111222', cause: [{ name: 'C', message: 'by 4111222', code: 'X' }] }
  expect(new Redactor(redact, undefined).error('a', error)).toEqual({
    name: 'E',
    message: 'at #',
    code: '#',
    cause: [{ name: 'C', message: 'by #', code: 'X' }],
  })
  const failing = new Redactor(() => undefined as never, undefined).error('a', error)
  expect(JSON.stringify(failing)).not.toContain('4111222')
  expect(failing.cause).toMatchObject([{ name: 'C', message: expect.stringContaining('redact has failed') }])
  const seen: unknown[] = []
  new Redactor((said) => {
    seen.push(said)
    return { message: '' }
  }, undefined).error('a', error)
  const asked = ['at 4111222', '4111222', 'by 4111222', 'X'].map((message) => ({ kind: 'error', name: 'a', message }))
  expect(seen).toEqual(asked)
  const long = new Redactor(() => ({ message: 'x'.repeat(9_999) }), undefined).error('a', error)
  expect([long.code?.length, long.cause?.[0]?.message.length]).toEqual([LIMITS.errorCodeLength, LIMITS.errorCauseLength])
})

test('what is left out is not kept', () => {
  const redactor = new Redactor(({ message }) => ({ message }), undefined)
  expect(redactor.error('a', { name: 'E', message: 'm', stack: 's' })).toEqual({ name: 'E', message: 'm' })
  expect(at(redactor, 'm', '{"x":1}')).toEqual({ at: 1, level: 'info', message: 'm' })
})

test('a text that was cut loses its last word, which may be half of what is looked for; fields that were cut are hidden', () => {
  const redactor = new Redactor(redact, undefined)
  const half = `${'x '.repeat(LIMITS.errorMessageLength / 2 - 2)}411…`.padStart(LIMITS.errorMessageLength, 'y')
  expect(redactor.error('a', { name: 'E', message: half }).message).toMatch(/x …$/)
  const line = `${'x '.repeat(LIMITS.logMessageLength / 2 - 1)}41`
  expect(at(redactor, line)?.message).toMatch(/x …$/)
  expect(at(redactor, 'm', '{"note":"card 411')?.fields).toBe('{"hidden":"longer than is kept"}')
})

test('what redact makes longer is cut', () => {
  const redactor = new Redactor(
    () => ({ message: 'x'.repeat(10_000), stack: 'y'.repeat(50_000), fields: { z: 'z'.repeat(10_000) } }),
    undefined,
  )
  const { message, stack } = redactor.error('a', { name: 'E', message: 'm' })
  expect([message.length, stack?.length]).toEqual([LIMITS.errorMessageLength, LIMITS.errorStackLength])
  expect(at(redactor, 'm')?.fields?.length).toBe(LIMITS.logMessageLength)
})
