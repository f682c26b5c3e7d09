// What serves by socket and what serves over HTTP let in alike.
import { describe, expect, test } from 'vitest'
import type { Clock } from '../clock.ts'
import { SCOPES, scopesOption } from './scopes.ts'
import { headerTokenOption, tokenOption, tokensOption } from './tokens.ts'
import { WrongTokens } from './wrongTokens.ts'

const TOKEN = 'a-token-of-24-characters'

describe('tokens', () => {
  test('a text allows everything; of a list each has its scopes, and what else is known', () => {
    expect(tokensOption(TOKEN)).toEqual([{ token: TOKEN, scopes: SCOPES, option: 'token', item: {} }])
    const item = { token: TOKEN, scopes: ['admin', 'read'], name: 'ops' }
    expect(tokensOption([item, { token: TOKEN }], ['name'])).toEqual([
      { token: TOKEN, scopes: ['read', 'admin'], option: 'token[0]', item },
      { token: TOKEN, scopes: SCOPES, option: 'token[1]', item: { token: TOKEN } },
    ])
  })

  test.each([
    [7, 'OPTION_TYPE', 'token', /must be a string, got number/],
    ['short', 'OPTION_RANGE', 'token', /must have 16 to 512 characters, got 5/],
    [[], 'OPTION_RANGE', 'token', /1 to 64 of { token, scopes }, got 0/],
    [Array(65).fill({ token: TOKEN }), 'OPTION_RANGE', 'token', /got 65/],
    [[{ token: TOKEN, name: 'ops' }], 'OPTION_TYPE', 'name', /no option 'name'/],
    [[{ token: TOKEN, scopes: [] }], 'OPTION_TYPE', 'token[0].scopes', /enqueue, work, read, admin, send, got none/],
    [[{ token: TOKEN }, { token: TOKEN, scopes: ['read', 'root'] }], 'OPTION_TYPE', 'token[1].scopes', /got "read", "root"/],
  ])('%j is refused as %s of %s', (value, code, option, message) => {
    expect(() => tokensOption(value)).toThrow(expect.objectContaining({ code, option, message: expect.stringMatching(message) }))
  })

  test('its length, and what a header can carry; never told', () => {
    for (const length of [16, 512]) expect(headerTokenOption('token', 'x'.repeat(length))).toHaveLength(length)
    for (const length of [15, 513]) expect(() => tokenOption('token', 'x'.repeat(length))).toThrow(RangeError)
    const spaced = 'a secret with spaces'
    expect(tokenOption('token', spaced)).toBe(spaced)
    for (const wrong of [spaced, 'überlange-geheimnisse']) {
      expect(() => headerTokenOption('token', wrong)).toThrow(/no header can carry it/)
      expect(() => headerTokenOption('token', wrong)).not.toThrow(new RegExp(wrong))
    }
  })

  test('scopes keep their order, once each; what is no list is none', () => {
    expect(scopesOption('scopes', ['admin', 'enqueue', 'admin'])).toEqual(['enqueue', 'admin'])
    expect(() => scopesOption('scopes', 'read')).toThrow(/got "read"/)
  })
})

describe('wrong tokens', () => {
  let mono = 1_000
  const clock: Clock = { read: () => ({ wall: 0, mono }), setTimer: () => () => {} }

  const kinds = (wrong: WrongTokens, address: string, times: number) =>
    Array.from({ length: times }, () => wrong.add(address)).map(({ kind, blockedMs }) => [kind, blockedMs])

  test('the fifth within a minute refuses those after it for half a minute, and of no other address', () => {
    const wrong = new WrongTokens(clock)
    expect(kinds(wrong, 'a', 6)).toEqual([...Array(4).fill(['counted', 0]), ['limit', 30_000], ['beyond', 30_000]])
    expect(kinds(wrong, 'b', 1)).toEqual([['counted', 0]])
    mono += 29_999
    expect(kinds(wrong, 'a', 2)).toEqual(Array(2).fill(['beyond', 1]))
    mono += 1
    // A minute has not passed: the next one is one too many at once, and said once.
    expect(kinds(wrong, 'a', 2)).toEqual([
      ['limit', 30_000],
      ['beyond', 30_000],
    ])
  })

  test('those of another minute do not count', () => {
    const wrong = new WrongTokens(clock)
    for (let times = 0; times < 4; times++) wrong.add('a')
    mono += 60_000
    expect(kinds(wrong, 'a', 4)).toEqual(Array(4).fill(['counted', 0]))
  })

  test.each(['127.0.0.1', '0:0:0:0::/64'])('%s is never refused, and its limit is said once in half a minute', (address) => {
    const wrong = new WrongTokens(clock)
    expect(kinds(wrong, address, 7)).toEqual([...Array(4).fill(['counted', 0]), ['limit', 0], ['beyond', 0], ['beyond', 0]])
  })

  test('whoever has many addresses fills no memory', () => {
    const wrong = new WrongTokens(clock)
    for (let address = 0; address < 10_100; address++) wrong.add(String(address))
    expect(wrong.size).toBe(10_000)
  })
})
