/** Tests that each effect of a turn touches a feature: a store would never write an effect that touches none. */

import { expect, test } from 'vitest'
import { Effects } from './effects.ts'

/** What a store writes in any case, how much another field means, and what is for the Ports alone. */
const NO_FEATURE: ReadonlySet<string> = new Set([
  ...['jobs', 'events', 'newLanes', 'countedLanes', 'settled'],
  'forgetKeysLimit',
  ...['interrupted', 'grants', 'notices', 'stops'],
])

const fields = Object.entries(new Effects()) as [string, unknown][]
const filled = (value: unknown): unknown => {
  if (Array.isArray(value)) return [{}]
  if (value instanceof Map) return new Map([[{}, {}]])
  if (value instanceof Set) return new Set([{}])
  return typeof value === 'number' ? 1 : true
}

test('a turn without effects touches no feature', () => {
  expect(fields.length).toBeGreaterThan(40)
  expect(new Effects()).toMatchObject({ touchesFeatures: false, empty: true })
})

test.each(fields)('the effect %s touches a feature, unless a store writes it in any case', (name, value) => {
  const effects = Object.assign(new Effects(), { [name]: filled(value) })
  expect(effects.touchesFeatures).toBe(!NO_FEATURE.has(name))
})

test.each([
  ['flows', (effects: Effects) => effects.flows],
  ['the inbox', (effects: Effects) => effects.inbox],
  ['tags', (effects: Effects) => effects.retag({} as never, [])],
])('effects for %s are created when they are first used, and then touch a feature', (_what, note) => {
  const effects = new Effects()
  note(effects)
  expect(effects).toMatchObject({ touchesFeatures: true, empty: false })
})
