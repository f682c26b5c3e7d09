import { expect, test } from 'vitest'
import { before, failureOf, NOW } from '../../testing/inputs.ts'
import { groupOf, groupRows, idOf, orderOf } from './groups.ts'

const declined = failureOf({ fingerprint: 'f1', error: 'PaymentDeclined', message: 'card 7 declined', count: 253, lastAt: before(2_000) })
const elsewhere = failureOf({ ...declined, queue: 'mail', name: 'send', count: 3, lastAt: before(1_000), firstAt: before(60_000) })
const old = failureOf({ fingerprint: 'f2', error: 'TypeError', count: 90, firstAt: before(9e7), lastAt: before(8e7) })
const all = [declined, elsewhere, old]
const shown = (text: string, order: 'newest' | 'most' | 'first' = 'newest') =>
  groupRows(all, text, order, NOW).map(({ failure }) => failure)

test('groups are those that have each word, in the order that was chosen', () => {
  expect(shown('')).toEqual([elsewhere, declined, old])
  expect(shown('', 'most')).toEqual([declined, old, elsewhere])
  expect(shown('', 'first').at(-1)).toEqual(old)
  expect(shown('CARD queue:mail')).toEqual([elsewhere])
  expect(shown('name:sen')).toEqual([])
  expect(shown('typeerror')).toEqual([old])
  expect(orderOf('no order')).toBe('newest')
})

test('a group is new for an hour', () => {
  expect(groupRows([elsewhere, old], '', 'newest', NOW).map(({ isNew }) => isNew)).toEqual([true, false])
})

test('the address names a group by all of its id, or by its fingerprint', () => {
  const rows = groupRows(all, '', 'most', NOW)
  expect(groupOf(rows, idOf(elsewhere))?.failure).toBe(elsewhere)
  expect(groupOf(rows, 'f1')?.failure).toBe(declined)
  expect(groupOf(rows, 'f9')).toBeUndefined()
  expect(groupOf(rows, undefined)).toBeUndefined()
})
