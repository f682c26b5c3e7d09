import { describe, expect, test } from 'vitest'
import * as errors from './errors.ts'
import {
  InternalError,
  JobNotFoundError,
  MillraceError,
  NonRetryableError,
  OptionRangeError,
  OptionTypeError,
  RetryAfterError,
} from './errors.ts'
import { ERROR_CODES, errorFrom, refusalFrom } from './refusal.ts'

/** `CommitUnknownError` is `COMMIT_UNKNOWN`. */
const codeOf = (name: string) =>
  name
    .replace(/Error$/, '')
    .replace(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '_')
    .toUpperCase()

type ErrorClass = typeof InternalError

const CLASSES = Object.entries(errors).filter(
  (entry): entry is [string, ErrorClass] => typeof entry[1] === 'function' && entry[1].prototype instanceof MillraceError,
)

test('every code has a class, and every class a code', () => {
  expect([...CLASSES.map(([, { code }]) => code), 'OPTION_TYPE', 'OPTION_RANGE'].sort()).toEqual([...ERROR_CODES].sort())
})

describe.each(CLASSES)('%s', (name, Class) => {
  test('has the code that its name says', () => {
    expect(Class.code).toBe(codeOf(name))
    const error = new Class('why')
    expect(error).toMatchObject({ name, code: codeOf(name), message: 'why' })
    expect(typeof error.retryable).toBe('boolean')
    expect(error).toBeInstanceOf(Error)
    expect(error.stack).toContain('why')
  })

  test('crosses a Port and comes back with its details', () => {
    const cause = new Error('deeper')
    const sent = new Class('why', { jobId: 'x', retryAfter: 5 })
    const refusal = JSON.parse(JSON.stringify(refusalFrom(sent)))
    const back = errorFrom(refusal, { cause })
    expect(back).toBeInstanceOf(Class)
    expect(back).toMatchObject({ name, code: sent.code, message: 'why', retryable: sent.retryable, jobId: 'x', retryAfter: 5, cause })
    expect(refusalFrom(back)).toEqual(refusal)
  })
})

test('what an answer can never change is told apart from what time may heal', () => {
  const retryable = CLASSES.filter(([, Class]) => new Class().retryable).map(([, { code }]) => code)
  expect(retryable).toEqual(expect.arrayContaining(['COMMIT_UNKNOWN', 'BUSY', 'DISK_FULL', 'STORAGE_BUSY', 'JOB_ACTIVE']))
  for (const code of ['JOB_NOT_FOUND', 'JOB_FINISHED', 'STALE_RUN', 'ENGINE_STOPPED', 'VALIDATION']) expect(retryable).not.toContain(code)
})

test('details do not change what an error is', () => {
  const error = new JobNotFoundError('why', { code: 'OTHER', name: 'Other', retryable: true, jobId: 'x' })
  expect(error).toMatchObject({ code: 'JOB_NOT_FOUND', name: 'JobNotFoundError', retryable: false, jobId: 'x' })
})

test('a bound that only the engine knows crosses as what it is', () => {
  const refusal = JSON.parse(JSON.stringify(refusalFrom(new OptionRangeError('data', 5, 'no'))))
  expect(refusal).toEqual({ code: 'OPTION_RANGE', message: 'no', details: { option: 'data', limit: 5 } })
  const back = errorFrom(refusal)
  expect(back).toBeInstanceOf(OptionRangeError)
  expect(back).toMatchObject({ code: 'OPTION_RANGE', message: 'no', option: 'data', limit: 5, retryable: false })
})

test('an error that is not ours crosses as INTERNAL, with its name', () => {
  expect(refusalFrom(new TypeError('oops'))).toEqual({ code: 'INTERNAL', message: 'TypeError: oops' })
  expect(refusalFrom('thrown')).toEqual({ code: 'INTERNAL', message: 'thrown' })
  expect(errorFrom(refusalFrom(undefined))).toBeInstanceOf(InternalError)
})

test('misuse is a TypeError or a RangeError that names the option', () => {
  expect(new OptionTypeError('priority', 'no')).toBeInstanceOf(TypeError)
  expect(new OptionTypeError('priority', 'no')).toMatchObject({
    name: 'OptionTypeError',
    code: 'OPTION_TYPE',
    option: 'priority',
    retryable: false,
  })
  expect(new OptionRangeError('priority', 5, 'no')).toBeInstanceOf(RangeError)
  expect(new OptionRangeError('priority', 5, 'no')).toMatchObject({
    name: 'OptionRangeError',
    code: 'OPTION_RANGE',
    option: 'priority',
    limit: 5,
  })
})

test('what handlers throw', () => {
  expect(new NonRetryableError('no', { cause: 1 })).toMatchObject({
    name: 'NonRetryableError',
    code: 'NON_RETRYABLE',
    message: 'no',
    cause: 1,
  })
  expect(new RetryAfterError('5m')).toMatchObject({ name: 'RetryAfterError', code: 'RETRY_AFTER', delay: 300_000 })
  expect(new RetryAfterError(0).delay).toBe(0)
  for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY, '5 minutes', {}])
    expect(() => new RetryAfterError(wrong as number)).toThrow(OptionTypeError)
})
