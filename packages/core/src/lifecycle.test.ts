import { describe, expect, test } from 'vitest'
import { BLOCKED, isFinal, isLive, LIFECYCLE, mayMove, STATES, type StateCode, type Transition } from './lifecycle.ts'

const CODES = STATES.map((_, code) => code as StateCode)
const TRANSITIONS = Object.keys(LIFECYCLE) as Transition[]
const rule = (transition: Transition) => LIFECYCLE[transition] as { from: readonly StateCode[]; to: readonly StateCode[] }
const named = (codes: readonly StateCode[]) => codes.map((code) => STATES[code])

/** Once more, by name: whoever changes the table changes it here too, and thinks twice. */
const EXPECTED: Record<Transition, readonly [from: readonly string[], to: readonly string[]]> = {
  enqueue: [[], ['scheduled', 'waiting', 'blocked']],
  promote: [['scheduled'], ['waiting']],
  release: [['blocked'], ['scheduled', 'waiting']],
  failByParent: [['blocked'], ['failed']],
  start: [['waiting'], ['active']],
  complete: [['active'], ['completed']],
  retry: [['active'], ['scheduled', 'waiting']],
  snooze: [['active'], ['scheduled']],
  wait: [['active'], ['scheduled']],
  giveBack: [['active'], ['waiting']],
  join: [['active'], ['blocked']],
  exhaust: [['active'], ['failed']],
  expire: [['scheduled', 'waiting', 'blocked'], ['failed']],
  cancel: [['scheduled', 'waiting', 'active', 'blocked'], ['cancelled']],
  reschedule: [
    ['scheduled', 'waiting'],
    ['scheduled', 'waiting'],
  ],
  revive: [
    ['failed', 'cancelled'],
    ['waiting', 'blocked'],
  ],
}

test('the table is closed: every state and every transition is named, and no other', () => {
  expect(TRANSITIONS).toEqual(Object.keys(EXPECTED))
  for (const transition of TRANSITIONS) expect([named(rule(transition).from), named(rule(transition).to)]).toEqual(EXPECTED[transition])
})

test('the codes are what files hold: they never change', () => {
  expect(STATES).toEqual(['scheduled', 'waiting', 'active', 'blocked', 'completed', 'failed', 'cancelled'])
})

describe.each(TRANSITIONS)('%s', (transition) => {
  test('may move only as the table says', () => {
    const { from, to } = rule(transition)
    for (const end of CODES) {
      for (const start of CODES) expect(mayMove(transition, start, end)).toBe(from.includes(start) && to.includes(end))
      expect(mayMove(transition, undefined, end)).toBe(transition === 'enqueue' && to.includes(end))
    }
  })
})

test('final states are left by revive alone, which begins a new life', () => {
  for (const transition of TRANSITIONS) {
    const { from, to } = rule(transition)
    if (transition === 'revive') {
      expect(from.every(isFinal)).toBe(true)
      expect(to.every(isLive)).toBe(true)
    } else expect(from.some(isFinal)).toBe(false)
  }
})

test('a completed job stays so', () => {
  for (const transition of TRANSITIONS) expect(named(rule(transition).from)).not.toContain('completed')
})

test('a job is live or final', () => {
  for (const code of CODES) expect(isLive(code)).toBe(!isFinal(code))
  expect(named(CODES.filter(isFinal))).toEqual(['completed', 'failed', 'cancelled'])
})

test('N5: every state is reached, and every live one left', () => {
  const reached = new Set(TRANSITIONS.flatMap((transition) => rule(transition).to))
  const left = new Set(TRANSITIONS.flatMap((transition) => rule(transition).from))
  expect([...reached].sort()).toEqual(CODES)
  for (const code of CODES.filter(isLive)) expect(left.has(code), STATES[code]).toBe(true)
  expect(reached.has(BLOCKED)).toBe(true)
})
