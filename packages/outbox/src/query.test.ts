import { defineJob } from '@millrace/engine'
import { describe, expect, test } from 'vitest'
import { enqueueBySql } from './query.ts'

const enqueue = enqueueBySql()

describe('a statement', () => {
  test('has the name, the data and the options as JSON', () => {
    expect(enqueue('mail', { to: 'ada' }, { priority: 5, tags: ['a'], meta: { by: 1 } })).toEqual({
      text: 'SELECT "millrace".enqueue($1, $2::text::jsonb, $3::text::jsonb) AS id',
      values: ['mail', '{"to":"ada"}', '{"priority":5,"tags":["a"],"meta":{"by":1}}'],
    })
    expect(enqueue('mail').values).toEqual(['mail', null, '{}'])
    expect(enqueueBySql('jobs')('mail').text).toContain('"jobs".enqueue')
  })

  test('has the options of the definition, which those of the call replace', () => {
    const mail = defineJob({ name: 'mail', maxAttempts: 3, queue: 'letters', timeout: '5s' })
    const [, , options] = enqueue(mail, undefined, { maxAttempts: 9 }).values
    expect(JSON.parse(options)).toEqual({ maxAttempts: 9, queue: 'letters', timeout: 5_000 })
  })
})

describe('bad input is refused before it is sent', () => {
  test.each<[string, () => unknown, string]>([
    ['a schema', () => enqueueBySql('a"b'), 'schema must have'],
    ['a name', () => enqueue('a b'), 'name has " "'],
    ['an option', () => enqueue('a', 1, { priorty: 1 } as never), "did you mean 'priority'?"],
    ['bytes', () => enqueue('a', new Uint8Array(3)), 'data must be JSON'],
    ['data that is none', () => enqueue('a', () => {}), 'cannot be stored as JSON'],
  ])('%s', (_what, call, message) => {
    expect(call).toThrow(message)
  })
})
