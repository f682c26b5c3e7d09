import { expect, test } from 'vitest'
import type { Connection } from '../connection.ts'
import { Tries, type Waiting } from './tries.ts'

/** The inbox of a server: the tries of each entry. */
class Inbox {
  readonly tries = new Map<number, number>()

  constructor(entries: number) {
    for (let id = 1; id <= entries; id++) this.tries.set(id, 0)
  }

  waiting(...ids: readonly number[]): Waiting[] {
    return ids.map((id) => [id, 1, this.tries.get(id) as number])
  }

  pluck(sql: string, ids: readonly number[] = []): number[] {
    if (sql.includes('max(id)')) return [Math.max(...this.tries.keys())]
    const left = ids.filter((id) => this.tries.has(id))
    for (const id of left) this.tries.set(id, sql.includes('tries + 1') ? (this.tries.get(id) as number) + 1 : 0)
    return left
  }
}

const counts = ({ tries }: Inbox) => [...tries.values()]

test.each<[string, readonly number[]]>([
  ['fewer are asked for', [1, 2]],
  ['the first ones wait for room', [3, 4]],
  ['they are found again', [1, 2, 3, 4]],
  ['nothing is found', []],
])('entries whose turn is over do not count against their owner if %s at the next look', (_, next) => {
  const inbox = new Inbox(4)
  const tries = new Tries(inbox as unknown as Connection)
  tries.begin(inbox.waiting(1, 2, 3, 4))
  expect(counts(inbox)).toEqual([1, 1, 1, 1])
  if (next.length === 0) tries.end()
  else expect(tries.begin(inbox.waiting(...next))).toHaveLength(next.length)
  expect(counts(inbox)).toEqual([0, 0, 0, 0])
  expect(tries.begin(inbox.waiting(1, 2, 3, 4))).toHaveLength(4)
  expect(counts(inbox)).toEqual([0, 0, 0, 0])
})

test('an entry that two owners were lost with is alone, and is not counted further', () => {
  const inbox = new Inbox(3)
  for (let owner = 0; owner < 2; owner++) {
    const tries = new Tries(inbox as unknown as Connection)
    expect(tries.begin(inbox.waiting(...inbox.tries.keys()))).toHaveLength(owner === 0 ? 3 : 1)
  }
  expect(new Tries(inbox as unknown as Connection).begin(inbox.waiting(1, 2, 3))).toEqual([[1, 1, 2]])
  expect(counts(inbox)).toEqual([2, 1, 1])
})
