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

test('what a token opens belongs to it, or to the name that authenticate gives it; without tokens, to nobody', () => {
  expect(new Tokens([]).ownerOf(undefined, { scopes: ['work'], name: 'anyone' })).toBeUndefined()
  const known = new Tokens([
    { token: one, permit: { scopes: ['work'], name: 'same' } },
    { token: two, permit: { scopes: ['work'], name: 'same' } },
  ])
  const owners = [one, two, one].map((token) => known.ownerOf(token, { scopes: ['work'], name: 'same' }))
  expect(owners[0]).toBe(owners[2])
  expect(owners[0]).not.toBe(owners[1])
  expect(owners.join()).not.toContain(one)
  const asked = new Tokens([], () => ['work'])
  expect(asked.ownerOf(one, { scopes: ['work'], name: 'a' })).toBe(asked.ownerOf(two, { scopes: ['work'], name: 'a' }))
  expect(asked.ownerOf(one, { scopes: ['work'], name: 'a' })).not.toBe(asked.ownerOf(one, { scopes: ['work'], name: 'b' }))
  expect(asked.ownerOf(one, { scopes: ['work'] })).not.toBe(asked.ownerOf(two, { scopes: ['work'] }))
})
