import { describe, expect, test } from 'vitest'
import { ALLOWED, type MessageType, maySend, nextState, type SessionState } from './states.ts'
import { MESSAGES } from './testing/arbitraries.ts'

const STATES: readonly SessionState[] = ['greeting', 'open', 'closed']
const ROLES = ['client', 'server'] as const
const TYPES = Object.keys(MESSAGES) as MessageType[]
const CELLS = STATES.flatMap((state) => ROLES.flatMap((role) => TYPES.map((type) => ({ state, role, type }))))

/** Said once more, in other words: a cell that changes is a change of the protocol. */
const SAID: readonly string[] = [
  'greeting client hello greeting',
  'greeting client goodbye closed',
  'greeting server welcome open',
  'greeting server goodbye closed',
  'open client requests open',
  'open client ping open',
  'open client pong open',
  'open client goodbye closed',
  'open server delivery open',
  'open server ping open',
  'open server pong open',
  'open server goodbye closed',
]

test('every cell is decided, and nothing else is', () => {
  expect(Object.keys(ALLOWED)).toEqual(STATES)
  for (const state of STATES) {
    expect(Object.keys(ALLOWED[state])).toEqual(ROLES)
    for (const role of ROLES) expect(Object.keys(ALLOWED[state][role])).toEqual(TYPES)
  }
  for (const { state, role, type } of CELLS) expect([null, ...STATES]).toContain(ALLOWED[state][role][type])
})

describe.each(CELLS)('$state: a $role says $type', ({ state, role, type }) => {
  const said = SAID.find((line) => line.startsWith(`${state} ${role} ${type} `))

  test(said === undefined ? 'may not' : `then ${said.split(' ').at(-1)}`, () => {
    if (said === undefined) expect(() => nextState(role, state, type)).toThrow(expect.objectContaining({ code: 'BAD_MESSAGE' }))
    else expect(nextState(role, state, type)).toBe(said.split(' ').at(-1))
  })
})

test('what an end never says is known without a state', () => {
  expect(TYPES.filter((type) => maySend('client', type))).toEqual(['hello', 'requests', 'ping', 'pong', 'goodbye'])
  expect(TYPES.filter((type) => maySend('server', type))).toEqual(['welcome', 'delivery', 'ping', 'pong', 'goodbye'])
})
