import { expect, test } from 'vitest'
import { ApiError } from '../../api/problem.ts'
import { cleaned, destination, refusalOf } from './login.ts'

test.each([
  ['mr_0123', 'mr_0123'],
  ['  mr_0123\n', 'mr_0123'],
  ['Bearer mr_0123', 'mr_0123'],
  ['Authorization: Bearer mr_0123', 'mr_0123'],
  ['"mr_0123"', 'mr_0123'],
  ["'mr_0123'", 'mr_0123'],
  ['   ', ''],
])('%j is the token %j', (pasted, token) => {
  expect(cleaned(pasted)).toBe(token)
})

test.each([
  [undefined, '/'],
  ['/jobs?state=failed', '/jobs?state=failed'],
  ['//elsewhere.example', '/'],
  ['/\\elsewhere.example', '/'],
  ['/\t/elsewhere.example', '/'],
  ['/\n/elsewhere.example', '/'],
  ['https://elsewhere.example', '/'],
  ['javascript:alert(1)', '/'],
])('after a log-in, %j leads to %s', (next, path) => {
  expect(destination(next)).toBe(path)
})

test('a refusal says what to do', () => {
  expect(refusalOf(new ApiError(401, 'AUTH_FAILED', 'the token is not known'))).toMatch(/not known/)
  expect(refusalOf(new ApiError(429, 'RATE_LIMITED', 'too many wrong tokens from this address'))).toMatch(/too many wrong tokens/)
})
