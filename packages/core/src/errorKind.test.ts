// Errors are recognized wherever they were made: each public class, made here, by a copy of the package, and in another realm.
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { type ErrorKind, isError, isErrorOf } from './errorKind.ts'
import * as ERRORS from './errors.ts'

type Class = new (...args: unknown[]) => Error

const CLASSES = Object.entries(ERRORS as unknown as Record<string, Class>).filter(
  ([name, each]) => typeof each === 'function' && each.prototype instanceof Error && name !== 'MillraceError',
)
const codeOf = (error: Error) => (error as Error & { readonly code: string }).code
const make = (name: string, Made: Class) => (name === 'RetryAfterError' ? new Made('5s') : new Made('x', 'y', 'z'))

test('there are many', () => expect(CLASSES.length).toBeGreaterThan(50))

describe.for(CLASSES)('%s', ([name, Made]) => {
  const kind = name as ErrorKind
  const own = make(name, Made)
  const spec = { name, code: codeOf(own) }
  const copy = `class ${name} extends Error {}`
  const fill = (script: string) => runInNewContext(script, { ...spec }) as unknown

  test.for<readonly [how: string, error: unknown]>([
    ['here', own],
    ['as a subclass', new (class Other extends Made {})('5s', 'y', 'z')],
    ['in another realm', fill('Object.assign(new Error(), { name, code })')],
    ['by another copy', fill(`${copy}; Object.assign(new ${name}(), { code })`)],
    ['by a subclass of another copy', fill(`${copy}; Object.assign(new (class Other extends ${name} {})(), { code })`)],
  ])('%s', ([, error]) => {
    expect(isError(error)).toBe(true)
    expect(isErrorOf(error, kind)).toBe(true)
  })

  test('nothing else is one', () => {
    const others: unknown[] = [undefined, null, name, () => name, new Error(name), { name, code: codeOf(own) }, fill('new Error(name)')]
    // A name that other libraries use counts only with the code.
    if (own instanceof ERRORS.MillraceError)
      others.push(Object.assign(new Error(), { name }), fill("Object.assign(new Error(), { name, code: 'E' })"))
    expect(others.filter((each) => isErrorOf(each, kind))).toEqual([])
  })
})

test('an object that cannot be asked is none', () => {
  const tagged = {
    get [Symbol.toStringTag]() {
      throw new Error('no')
    },
  }
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  for (const value of [tagged, proxy]) {
    expect(isError(value)).toBe(false)
    expect(isErrorOf(value, 'BusyError')).toBe(false)
  }
})

test('those of the language, and the base of all that the queue raises', () => {
  expect(isErrorOf(runInNewContext("try { JSON.parse('{') } catch (error) { error }"), 'SyntaxError')).toBe(true)
  expect(isErrorOf(new ERRORS.OptionTypeError('a', 'b'), 'TypeError')).toBe(true)
  expect(isErrorOf(new ERRORS.BusyError(), 'MillraceError')).toBe(true)
  const copied = runInNewContext('class MillraceError extends Error {}; class BusyError extends MillraceError {}; new BusyError()')
  expect(isErrorOf(copied, 'MillraceError')).toBe(true)
  expect(isErrorOf(new Error(), 'MillraceError')).toBe(false)
})
