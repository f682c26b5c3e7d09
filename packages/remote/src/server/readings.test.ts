import type { Command, Request } from '@millrace/core'
import { beforeEach, expect, test } from 'vitest'
import { Readings } from './readings.ts'

const KEY = { seq: 1, node: 1, enqueuedAt: 1 }
const get = (id: number): Request => ({ id, command: { op: 'get', id: KEY } })
const list = (id: number, limit: number): Request => ({ id, command: { op: 'list', filter: {}, limit } })
const other = (id: number): Request => ({ id, command: { op: 'stats' } satisfies Command })
const many = (from: number, to: number, of: (id: number) => Request) =>
  Array.from({ length: to - from + 1 }, (_, index) => of(from + index))

let sent: number[][]
let readings: Readings
let isRead: boolean
const answer = (...ids: number[]) => readings.answer(ids.map((id) => ({ id, value: null })))

beforeEach(() => {
  sent = []
  isRead = true
  readings = new Readings(
    (requests) => sent.push(requests.map(({ id }) => id)),
    () => isRead,
  )
})

test('what reads no jobs passes as it is', () => {
  readings.ask(many(1, 5_000, other))
  readings.ask(many(5_001, 5_002, other))
  expect(sent.map(({ length }) => length)).toEqual([5_000, 2])
})

test('64 jobs are read at a time, and nothing passes those that wait', () => {
  readings.ask([...many(1, 100, get), other(101)])
  readings.ask([other(102)])
  expect(sent).toEqual([many(1, 64, get).map(({ id }) => id)])
  answer(1, 2)
  expect(sent[1]).toEqual([65, 66])
  answer(...many(3, 66, get).map(({ id }) => id))
  expect(sent[2]).toEqual([...many(67, 100, get).map(({ id }) => id), 101, 102])
  readings.ask([other(103)])
  expect(sent[3]).toEqual([103])
})

test('a page of a flow, which has no payloads, counts as a job', () => {
  const flow = (id: number): Request => ({ id, command: { op: 'getFlow', id: KEY, limit: 200 } })
  readings.ask([...many(1, 66, flow), get(67)])
  expect(sent).toEqual([many(1, 64, flow).map(({ id }) => id)])
})

test('a page counts by the jobs that it may have; one that is more than all goes alone', () => {
  readings.ask([list(1, 40), list(2, 40), list(3, 200), get(4)])
  expect(sent).toEqual([[1]])
  answer(1)
  expect(sent[1]).toEqual([2])
  answer(2)
  expect(sent[2]).toEqual([3])
  answer(3)
  expect(sent[3]).toEqual([4])
})

test('answers to others make no room', () => {
  readings.ask([...many(1, 64, get), get(65)])
  answer(900, 901)
  expect(sent).toHaveLength(1)
})

test('a worker lives, however much is read for its process', () => {
  readings.ask([list(1, 100), list(2, 100)])
  readings.ask([other(3), { id: -1, command: { op: 'renew', renewal: 1 } }])
  expect(sent).toEqual([[1], [-1]])
  answer(1)
  expect(sent).toEqual([[1], [-1], [2, 3]])
})

test('a client that does not read its answers asks no further until it does; what its worker says of runs passes, and renewals', () => {
  const complete = (id: number): Request => ({ id, command: { op: 'complete', seq: id, run: 1, output: null } })
  readings.ask([list(1, 40)])
  isRead = false
  readings.ask([complete(2)])
  readings.ask([other(3), complete(4), { id: -1, command: { op: 'renew', renewal: 1 } }, get(5)])
  expect(sent).toEqual([[1], [2], [-1]])
  answer(1, 2)
  expect(sent).toHaveLength(3)
  isRead = true
  readings.resume()
  expect(sent[3]).toEqual([3, 4, 5])
})

const QUESTIONS: readonly Command[] = [
  { op: 'queues' },
  { op: 'workers' },
  { op: 'exports' },
  { op: 'history', queue: 'q', step: 'hour', from: 0 },
  { op: 'export', name: 'e', limit: 200 },
  { op: 'parents', seq: 1, run: 1 },
  { op: 'events', after: 0, filter: {} },
]

test.each(QUESTIONS.map((command) => [command.op, command] as const))('%s is a question', (_op, command) => {
  isRead = false
  readings.ask([{ id: 1, command }])
  expect(sent).toEqual([])
})
