import { SCOPES } from '@millrace/core'
import { expect, test } from 'vitest'
import { Tokens } from './tokens.ts'

const [one, two] = ['1'.repeat(32), '2'.repeat(40)]

test('without any, everyone may do everything', () => {
  expect(new Tokens([]).scopesOf(undefined)).toEqual(SCOPES)
  expect(new Tokens([]).scopesOf('anything')).toEqual(SCOPES)
})

test('each has what it allows; others, and none, have nothing', () => {
  const tokens = new Tokens([
    { token: one, scopes: ['enqueue'] },
    { token: two, scopes: ['work', 'read'] },
  ])
  expect(tokens.scopesOf(one)).toEqual(['enqueue'])
  expect(tokens.scopesOf(two)).toEqual(['work', 'read'])
  for (const wrong of [undefined, '', one.slice(1), `${one}1`, one.toUpperCase() + two]) expect(tokens.scopesOf(wrong)).toBeUndefined()
})
