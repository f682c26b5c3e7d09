import { SCOPES } from '@millrace/core'
import { expect, test } from 'vitest'
import { Tokens } from './tokens.ts'

const [one, two] = ['1'.repeat(32), '2'.repeat(40)]

test('without any, everyone may do everything', () => {
  expect(new Tokens([]).permitOf(undefined)).toEqual({ scopes: SCOPES, name: 'anyone' })
  expect(new Tokens([]).permitOf('anything')).toEqual({ scopes: SCOPES, name: 'anyone' })
})

test('each has what it allows; others, and none, have nothing', () => {
  const tokens = new Tokens([
    { token: one, permit: { scopes: ['enqueue'] } },
    { token: two, permit: { scopes: ['work', 'read'], names: ['a'] } },
  ])
  expect(tokens.permitOf(one)).toEqual({ scopes: ['enqueue'] })
  expect(tokens.permitOf(two)).toEqual({ scopes: ['work', 'read'], names: ['a'] })
  for (const wrong of [undefined, '', one.slice(1), `${one}1`, one.toUpperCase() + two]) expect(tokens.permitOf(wrong)).toBeUndefined()
})
