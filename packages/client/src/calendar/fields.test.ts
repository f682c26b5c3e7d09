// Ranges that pass the end of their field, and what is said of fields that are wrong.
import { expect, test } from 'vitest'
import { unrolled } from './fields.ts'
import { nextMatch } from './pattern.ts'

const FROM = Date.UTC(2026, 0, 1)

function matches(expression: string, count: number): string[] {
  const found: string[] = []
  for (let at = FROM; found.length < count; ) {
    at = nextMatch(expression, at) as number
    found.push(new Date(at).toISOString())
  }
  return found
}

test.each([
  ['0 22-4 * * *', '0 22,23,0-4 * * *'],
  ['0 22-4/2 * * *', '0 22,0,2,4 * * *'],
  ['0 9 * * FRI-MON', '0 9 * * 5,6,0,1'],
  ['0 9 * * fri-mon', '0 9 * * 5,6,0,1'],
  ['0 9 * * 6-0', '0 9 * * 6,0'],
  ['0 9 * * 7-1', '0 9 * * 0,1'],
  ['0 9 * * FRI-SUN,WED', '0 9 * * 5,6,0,3'],
  ['0 0 1 NOV-FEB *', '0 0 1 11,12,1,2 *'],
  ['50-10/10 * * * *', '50,0,10 * * * *'],
  ['55-4 0 0 * * *', '55,56,57,58,59,0-4 0 0 * * *'],
  ['0 0 30-2 * *', '0 0 30,31,1,2 * *'],
])('%s is %s', (expression, plain) => {
  expect(matches(expression, 40)).toEqual(matches(plain, 40))
})

test.each([
  '*/5 9-17 * * MON-FRI',
  '0 0 L * *',
  '0 0 15W * *',
  '0 0 * * 5L',
  '0 0 * * MON#2',
  '0 0 ? * *',
  '0 0 9 1 1 * 2027-2029',
  '1,2 * * * *',
])('%s stays as it is', (expression) => expect(unrolled(expression)).toBe(expression))

test.each([
  ['0 0 32 * *', 'its day must be between 1 and 31, got 32'],
  ['0 0 0 * *', 'its day must be between 1 and 31, got 0'],
  ['0 0 30-32 * *', 'its day must be between 1 and 31, got 32'],
  ['0 0 32W * *', 'its day must be between 1 and 31, got 32'],
  ['0 0 * 13 *', 'its month must be between 1 and 12, got 13'],
  ['0 0 * 0 *', 'its month must be between 1 and 12, got 0'],
  ['0 0 * * 8', 'its weekday must be between 0 and 7, got 8'],
  ['0 0 * * 8#1', 'its weekday must be between 0 and 7, got 8'],
  ['0 24 * * *', 'its hour must be between 0 and 23, got 24'],
  ['1-61 * * * *', 'its minute must be between 0 and 59, got 61'],
  ['60 * * * * *', 'its second must be between 0 and 59, got 60'],
  ['0 0 0 1 1 * 10000', 'its year must be between 1 and 9999, got 10000'],
  ['0 0 0 1 1 * 2029-2027', "its year '2029-2027' ends before it begins"],
  ['0 0 * * FRI-MON#2', "its weekday 'FRI-MON#2' ends before it begins: write two ranges"],
  ...['22-4/0', '*/0', '1-5/0', '3/0'].map((hour) => [
    `0 ${hour} * * *`,
    `the step of its hour '${hour}' must be a whole number of at least 1, got 0`,
  ]),
  ['0 22-4/x * * *', "the step of its hour '22-4/x' must be a whole number of at least 1, got x"],
  ['*/ * * * *', "the step of its minute '*/' must be a whole number of at least 1, got nothing"],
  ['-1 * * * *', "its minute '-1' is neither a value nor a range"],
  ['1- * * * *', "its minute '1-' is neither a value nor a range"],
])('%s: %s', (expression, message) => {
  expect(() => nextMatch(expression, FROM)).toThrow(message)
})
