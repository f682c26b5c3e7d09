import { ValidationError } from '@millrace/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { expect, test } from 'vitest'
import { checkSchema } from './schema.ts'

function schemaOf(result: StandardSchemaV1.Result<unknown>, asynchronous = false): StandardSchemaV1 {
  return { '~standard': { version: 1, vendor: 'test', validate: () => (asynchronous ? Promise.resolve(result) : result) } }
}

test('what the schema makes of it, at once or later', async () => {
  expect(checkSchema(schemaOf({ value: 5 }), 'a', 4)).toBe(5)
  expect(await checkSchema(schemaOf({ value: 5 }, true), 'a', 4)).toBe(5)
})

test('issues become a ValidationError that says where; keys that are no text are written as text', async () => {
  const issues = [{ message: 'too small', path: ['items', 0, { key: Symbol('s') }] }, { message: 'odd' }]
  for (const asynchronous of [false, true]) {
    const error = await Promise.resolve()
      .then(() => checkSchema(schemaOf({ issues }, asynchronous), 'a', 4))
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ValidationError)
    expect(error).toMatchObject({
      message: "the data of job 'a' does not satisfy its schema at items.0.Symbol(s): too small",
      issues: [{ message: 'too small', path: ['items', 0, 'Symbol(s)'] }, { message: 'odd' }],
    })
  }
})

test('no issue at all is still a refusal', () => {
  expect(() => checkSchema(schemaOf({ issues: [] }), 'a', 4)).toThrow(/no reason given/)
})
