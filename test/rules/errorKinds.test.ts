// Errors come from other realms, threads and copies of a package: `instanceof` would miss those.
import { expect, test } from 'vitest'
import * as ERRORS from '../../packages/core/src/errors.ts'
import { placesOf, SHIPPED } from './sources.ts'

const NATIVE = [
  'Error',
  'AggregateError',
  'DOMException',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SuppressedError',
  'SyntaxError',
  'TypeError',
  'URIError',
]
const PUBLIC = Object.keys(ERRORS).filter((name) => name.endsWith('Error'))
const ASKED = new RegExp(`\\binstanceof\\s+(?:${[...NATIVE, ...PUBLIC].join('|')})\\b`)

/** Programs of their own, which know no package of the queue but the engine, or its types alone. */
const APART = ['demo', 'dashboard', 'docs', 'examples']

test('no code asks `instanceof` about an error that anybody may have made: isError and isErrorOf do', () => {
  const wrong = SHIPPED.filter(({ package: name, path }) => !APART.includes(name) && path !== 'packages/core/src/errorKind.ts').flatMap(
    (source) => placesOf(source, ASKED),
  )
  expect(wrong).toEqual([])
})
