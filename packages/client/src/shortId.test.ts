// A look for a short id costs one row, whatever the filter.
import { type CommandOf, formatId, type JobView, type ListFilter, SHORT_ROWS, shortId } from '@millrace/core'
import { expect, test } from 'vitest'
import type { Mailbox } from './mailbox.ts'
import { keyOfShortId } from './shortId.ts'

const AT = Date.UTC(2025, 10, 23)
const keyAt = (seq: number, enqueuedAt = AT + Math.floor(seq / 1_000)) => ({ seq, node: 0, enqueuedAt })
const queue: ListFilter = { queue: 'mail' }

/** Calls to an engine that has a job at each number, of which those in `matching` match a filter. */
function callsOf(newest: number, matching: readonly number[]) {
  const filtered: number[] = []
  const call = async ({ filter, before = newest + 1 }: CommandOf<'list'>) => {
    if (Object.keys(filter).length === 0) return { jobs: [keyAt(before - 1) as JobView], next: null }
    filtered.push(before)
    return { jobs: matching.filter((seq) => seq < before).map((seq) => keyAt(seq) as JobView), next: null }
  }
  return { calls: { call } as unknown as Pick<Mailbox, 'call'>, filtered }
}

test.each([
  ['matches', [7 + SHORT_ROWS], true],
  ['does not match', [3], false],
])('only the row that has the id is filtered, which %s', async (_what, matching, found) => {
  const { calls, filtered } = callsOf(40 * SHORT_ROWS, matching)
  const key = keyAt(7 + SHORT_ROWS)
  expect(await keyOfShortId(calls, shortId(formatId(key)), queue)).toEqual(found ? key : undefined)
  expect(filtered).toEqual([8 + SHORT_ROWS])
})

test('an id that no row has is never filtered', async () => {
  const { calls, filtered } = callsOf(40 * SHORT_ROWS, [3])
  expect(await keyOfShortId(calls, shortId(formatId(keyAt(7, AT + 9_999))), queue)).toBeUndefined()
  expect(filtered).toEqual([])
})
