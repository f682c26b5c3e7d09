import { expect, test } from 'vitest'
import { Unread } from './unread.ts'

class FakeReader {
  unreadBytes = 0
  crowdedOut = 0
  stuck?: boolean
  crowdOut(): void {
    this.crowdedOut++
    this.unreadBytes = 0
  }
}

function room(budgetBytes: number, count: number) {
  const unread = new Unread(budgetBytes)
  const readers = Array.from({ length: count }, () => new FakeReader())
  const tell = (index: number, bytes: number) => {
    const reader = readers[index] as FakeReader
    reader.unreadBytes += bytes
    unread.look(reader)
  }
  return { unread, readers, tell, out: () => readers.flatMap(({ crowdedOut }, index) => Array(crowdedOut).fill(index)) }
}

test('at the budget nobody is closed; a byte beyond it the one that has the most is, whoever was told last', () => {
  const { unread, tell, out } = room(100, 3)
  tell(0, 20)
  tell(1, 50)
  tell(2, 30)
  expect([unread.bytes, out()]).toEqual([100, []])
  tell(0, 1)
  expect([unread.bytes, out()]).toEqual([51, [1]])
})

test('as many are closed as it takes', () => {
  const { unread, tell, out } = room(100, 4)
  for (const index of [0, 1, 2]) tell(index, 33)
  tell(3, 150)
  expect([unread.bytes, out()]).toEqual([99, [3]])
  tell(0, 40)
  expect([unread.bytes, out()]).toEqual([66, [0, 3]])
})

test('what has been read meanwhile does not count, though nobody has said so', () => {
  const { unread, readers, tell, out } = room(100, 2)
  tell(0, 90)
  ;(readers[0] as FakeReader).unreadBytes = 10
  tell(1, 80)
  expect([unread.bytes, out()]).toEqual([90, []])
})

test('nothing of those that have read all is kept', () => {
  const { unread, tell, out } = room(100, 2)
  for (let round = 0; round < 1_000; round++) {
    tell(0, 60)
    tell(1, 40)
    tell(1, -40)
    tell(0, -60)
  }
  expect([unread.bytes, out()]).toEqual([0, []])
})

test('a client that is stuck goes before one that reads, whatever the other has', () => {
  const unread = new Unread(100)
  const [reading, small, large] = [new FakeReader(), new FakeReader(), new FakeReader()]
  for (const stuck of [small, large]) stuck.stuck = true
  const hold = (reader: FakeReader, bytes: number) => {
    reader.unreadBytes = bytes
    unread.look(reader)
  }
  hold(reading, 60)
  hold(small, 15)
  hold(large, 20)
  expect([reading, small, large].map(({ crowdedOut }) => crowdedOut)).toEqual([0, 0, 0])
  hold(reading, 70)
  expect([reading, small, large].map(({ crowdedOut }) => crowdedOut)).toEqual([0, 0, 1])
  hold(reading, 90)
  expect([reading, small, large].map(({ crowdedOut }) => crowdedOut)).toEqual([0, 1, 1])
  hold(reading, 101)
  expect([reading, small, large].map(({ crowdedOut }) => crowdedOut)).toEqual([1, 1, 1])
})
