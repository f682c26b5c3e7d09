import { runInNewContext, runInThisContext } from 'node:vm'
import { LIMITS } from '@millrace/core'
import { expect, test } from 'vitest'
import { runErrorOf } from './runError.ts'

class Hostile extends Error {
  override get message(): string {
    throw new Error('not to be read')
  }
}

const revoked = Proxy.revocable({}, {})
revoked.revoke()

const cyclic: Record<string, unknown> = {}
cyclic['itself'] = cyclic

test('an error: name, message and stack', () => {
  const error = new RangeError('too far')
  expect(runErrorOf(error)).toEqual({ name: 'RangeError', message: 'too far', stack: error.stack })
})

test.for<readonly [what: string, thrown: unknown, name: string, message: string]>([
  ['undefined', undefined, 'Error', 'undefined'],
  ['null', null, 'Error', 'null'],
  ['a text', 'no', 'Error', 'no'],
  ['a symbol', Symbol('no'), 'Error', 'Symbol(no)'],
  ['a BigInt', 12n, 'Error', '12'],
  ['an object', { code: 7 }, 'Error', '{"code":7}'],
  ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), 'Error', '{"a":1}'],
  ['an object whose JSON is nothing', { toJSON: () => undefined }, 'Error', 'an object'],
  ['a cycle', cyclic, 'Error', '{"itself":"[unreadable: Converting circular structure to JSON]"}'],
  ['an object with a BigInt', { code: 'E', n: 1n }, 'Error', '{"code":"E","n":"[unreadable: Do not know how to serialize a BigInt]"}'],
  ['a getter that throws', new Hostile(), 'Error', 'the handler has thrown something that cannot be read'],
  ['a revoked proxy', revoked.proxy, 'Error', 'the handler has thrown something that cannot be read'],
  ['an error without a name', Object.assign(new Error('m'), { name: '' }), 'Error', 'm'],
  ['an error whose name is a number', Object.assign(new Error('m'), { name: 5 }), 'Error', 'm'],
  ['an error whose message is an object', Object.assign(new Error(), { message: { deep: 1 } }), 'Error', '{"deep":1}'],
])('%s', ([, thrown, name, message]) => {
  expect(runErrorOf(thrown)).toMatchObject({ name, message })
})

test('without a stack none is stored; what is long is cut', () => {
  const error = Object.assign(new Error('m'.repeat(10_000)), { name: 'n'.repeat(500), stack: 's'.repeat(50_000) })
  const { name, message, stack } = runErrorOf(error)
  expect([name.length, message.length, stack?.length]).toEqual([128, LIMITS.errorMessageLength, LIMITS.errorStackLength])
  expect(message.endsWith('…')).toBe(true)
  expect(runErrorOf(Object.assign(new Error('m'), { stack: undefined }))).not.toHaveProperty('stack')
})

test('code, causes and the errors of an AggregateError are kept behind the stack, in this order', () => {
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  const middle = new TypeError('fetch failed', { cause: refused })
  const { stack } = runErrorOf(Object.assign(new Error('no', { cause: middle }), { code: 7 }))
  expect(stack?.split('\n').filter((line) => line.startsWith('['))).toEqual([
    '[code]: 7',
    '[cause]: TypeError: fetch failed',
    '[cause]: Error: refused',
    '[code]: ECONNREFUSED',
  ])
  expect(stack?.startsWith('Error: no\n    at ')).toBe(true)
  const many = runErrorOf(
    new AggregateError(
      Array.from({ length: 12 }, (_, index) => `no ${index}`),
      'all',
    ),
  )
  const shown = many.stack?.split('\n').filter((line) => line.startsWith('['))
  expect(shown?.slice(0, 1)).toEqual(['[errors][0]: no 0'])
  expect(shown?.slice(9)).toEqual(['[errors][9]: no 9', '[errors]: 2 more'])
})

test('code and causes are fields, too: a number is a string, and what caused it may be anything', () => {
  const refused = Object.assign(new RangeError('refused', { cause: 'the network' }), { code: 'ECONNREFUSED' })
  const { code, cause } = runErrorOf(Object.assign(new Error('no', { cause: refused }), { code: 7 }))
  expect(code).toBe('7')
  expect(cause).toEqual([
    { name: 'RangeError', message: 'refused', code: 'ECONNREFUSED' },
    { name: 'Error', message: 'the network' },
  ])
  for (const none of ['', undefined, null, true, {}, Symbol('no')])
    expect(Object.keys(runErrorOf(Object.assign(new Error('no'), { code: none })))).toEqual(['name', 'message', 'stack'])
})

test('code and causes are bounded one by one, and with the stack by its own limit', () => {
  let error: Error | undefined
  for (let depth = 0; depth < 9; depth++) {
    error = Object.assign(new Error(`${depth} ${'m'.repeat(9_000)}`, { cause: error }), { code: 'c'.repeat(999), name: 'n'.repeat(999) })
    error.stack = 's '.repeat(50_000)
  }
  const { stack = '', code, cause = [] } = runErrorOf(error)
  expect(code?.length).toBe(LIMITS.errorCodeLength)
  expect(cause.map(({ name, message, code: of }) => [name.length, message.length, of?.length])).toEqual(
    Array(LIMITS.errorCauses).fill([LIMITS.errorNameLength, LIMITS.errorCauseLength, LIMITS.errorCodeLength]),
  )
  expect(cause[0]?.message).toMatch(/^7 m+…$/)
  const texts = [stack, code, ...cause.flatMap((each) => [each.name, each.message, each.code])]
  expect(texts.reduce((length, text = '') => length + text.length, 0)).toBeLessThanOrEqual(LIMITS.errorStackLength)
  expect(stack.length).toBeGreaterThan(LIMITS.errorStackLength / 2)
})

test('a cause that cannot be read hides neither the error, nor its code, nor the other causes', () => {
  const unreadable = {
    get message(): never {
      throw new Error('never')
    },
    toJSON: () => {
      throw new Error('never')
    },
  }
  const error = Object.assign(new Error('no', { cause: new Error('near', { cause: unreadable }) }), { code: 'E' })
  expect(runErrorOf(error)).toMatchObject({
    message: 'no',
    code: 'E',
    cause: [{ message: 'near' }, { name: 'Error', message: '{"message":"[unreadable: never]"}' }],
  })
  const crooked = Object.defineProperty(new Error('no', { cause: new Error('near') }), 'code', {
    get() {
      throw new Error('never')
    },
  })
  expect(runErrorOf(crooked)).toMatchObject({ message: 'no', cause: [{ message: 'near' }] })
})

test('errors in an error that cannot be read hide none of the others', () => {
  const error = new AggregateError([new Error('first'), new Hostile(), revoked.proxy, { n: 1n }, new Error('last')], 'all', {
    cause: revoked.proxy,
  })
  const { stack = '', cause } = runErrorOf(Object.assign(error, { code: 'E' }))
  expect(stack).toContain('[code]: E')
  for (const line of [
    '[errors][0]: Error: first',
    '[errors][3]: {"n":"[unreadable: Do not',
    '[errors][4]: Error: last',
    '[cause]: it cannot be read',
  ])
    expect(stack).toContain(line)
  expect(cause).toEqual([{ name: 'Error', message: 'the cause cannot be read' }])
})

test('what is kept is bounded, however deep, long or crooked the causes are', () => {
  const circle = new Error('round')
  circle.cause = circle
  expect(runErrorOf(circle).stack?.split('[cause]').length).toBe(6)
  const long = new Error('long', { cause: Object.assign(new Error('xxx '.repeat(100_000)), { code: 'y'.repeat(100_000) }) })
  long.stack = 'zzz '.repeat(100_000)
  const { stack } = runErrorOf(long)
  expect(stack?.length).toBeLessThanOrEqual(LIMITS.errorStackLength)
  expect(stack).toContain('[cause]: Error: xxx')
  const crooked = Object.defineProperty(new Error('crooked'), 'cause', {
    get() {
      throw new Error('never')
    },
  })
  expect(runErrorOf(crooked)).toMatchObject({ name: 'Error', message: 'crooked', stack: crooked.stack })
})

/** Errors that a script of another realm has made: they are instances of nothing here. */
const foreign = (script: string) => {
  try {
    return runInNewContext(script, { DOMException })
  } catch (error) {
    return error
  }
}

test.for<readonly [what: string, script: string, stored: object]>([
  ['of the language', 'null.x', { name: 'TypeError', message: "Cannot read properties of null (reading 'x')" }],
  ['with a code', "Object.assign(new Error('gone'), { code: 'ECONNRESET' })", { name: 'Error', message: 'gone', code: 'ECONNRESET' }],
  ['with a class of its own', "class Rare extends Error { name = 'Rare' }; new Rare('m')", { name: 'Rare', message: 'm' }],
  [
    'with causes',
    "new Error('a', { cause: Object.assign(new Error('b', { cause: new RangeError('c') }), { code: 7 }) })",
    {
      name: 'Error',
      message: 'a',
      cause: [
        { name: 'Error', message: 'b', code: '7' },
        { name: 'RangeError', message: 'c' },
      ],
    },
  ],
  ['a DOMException', "new DOMException('late', 'TimeoutError')", { name: 'TimeoutError', message: 'late' }],
])('an error of another realm is stored as one: %s', ([, script, stored]) => {
  const thrown = foreign(script)
  expect(runErrorOf(thrown)).toMatchObject({ ...stored, stack: expect.stringContaining((thrown as Error).stack as string) })
})

test.for<readonly [what: string, make: (script: string) => unknown]>([
  ['this realm', (script) => runInThisContext(script)],
  ['another realm', foreign],
])('errors in errors are shown with their codes, of %s', ([, make]) => {
  const details = (script: string) => (runErrorOf(make(script)).stack as string).split('\n').filter((line) => line.startsWith('['))
  const inner = "Object.assign(new Error('inner', { cause: new Error('deep') }), { code: 'EINNER' })"
  expect(details(`new AggregateError([${inner}, 'text'], 'many')`)).toEqual([
    '[errors][0]: Error: inner',
    '[code]: EINNER',
    '[cause]: Error: deep',
    '[errors][1]: text',
  ])
  expect(details(`new Error('outer', { cause: new AggregateError([${inner}], 'many') })`)).toEqual([
    '[cause]: AggregateError: many',
    '[errors][0]: Error: inner',
    '[code]: EINNER',
  ])
  // As TypeScript makes it for a Node without the class.
  expect(
    details(`Object.assign(new Error('both'), { name: 'SuppressedError', error: new Error('dispose'), suppressed: ${inner} })`),
  ).toEqual(['[error]: Error: dispose', '[suppressed]: Error: inner', '[code]: EINNER', '[cause]: Error: deep'])
})
