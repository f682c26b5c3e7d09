import type { Command, Request } from '@millrace/core'
import { expect, test } from 'vitest'
import { Unanswered } from './unanswered.ts'

const MIB = 2 ** 20
const ask = (id: number, command: Partial<Command> = { op: 'stats' }) => ({ id, command }) as Request
const watch = (id: number) => ask(id, { op: 'watch' })
const answer = (id: number) => ({ id, value: true })

test('full by count, until so many are answered', () => {
  const unanswered = new Unanswered()
  unanswered.ask(
    Array.from({ length: 9_999 }, (_, index) => ask(index)),
    1,
  )
  expect(unanswered.full).toBe(false)
  unanswered.ask([ask(10_000)], 1)
  expect(unanswered.full).toBe(true)
  unanswered.answer([answer(0)])
  expect([unanswered.full, unanswered.requests]).toEqual([false, 9_999])
})

test('full by bytes, until the whole frame is answered', () => {
  const unanswered = new Unanswered()
  unanswered.ask([ask(1), ask(2)], 8 * MIB)
  unanswered.ask([ask(3)], 10)
  expect(unanswered.full).toBe(true)
  unanswered.answer([answer(1)])
  expect(unanswered.full).toBe(true)
  unanswered.answer([answer(2), answer(3)])
  expect([unanswered.full, unanswered.requests]).toEqual([false, 0])
})

test('results that are waited for take no place, however long', () => {
  const unanswered = new Unanswered()
  for (let id = 0; id < 20_000; id += 100)
    unanswered.ask(
      Array.from({ length: 100 }, (_, index) => watch(id + index)),
      MIB,
    )
  expect(unanswered.full).toBe(false)
  unanswered.ask([ask(50_000)], 1)
  unanswered.answer([answer(7), answer(50_000)])
  expect(unanswered.requests).toBe(19_999)
})

test('too many of them are refused', () => {
  const unanswered = new Unanswered()
  const watches = Array.from({ length: 100_001 }, (_, index) => watch(index))
  expect(() => unanswered.ask(watches, 1)).toThrow(expect.objectContaining({ code: 'BAD_MESSAGE' }))
})

test('a watch that is given up may still be answered, before its giving up is', () => {
  const unanswered = new Unanswered()
  unanswered.ask([watch(1), watch(2)], 1)
  unanswered.ask([ask(3, { op: 'unwatch', request: 1 }), ask(4, { op: 'unwatch', request: 2 })], 1)
  unanswered.answer([answer(1)])
  expect(unanswered.requests).toBe(3)
  unanswered.answer([answer(3), answer(4)])
  expect(unanswered.requests).toBe(0)
})

test('a number that is not answered yet is not taken again', () => {
  const unanswered = new Unanswered()
  unanswered.ask([watch(1)], 1)
  expect(() => unanswered.ask([ask(1)], 1)).toThrow(expect.objectContaining({ code: 'BAD_MESSAGE' }))
})

test('frames come and go without being kept', () => {
  const unanswered = new Unanswered()
  for (let id = 0; id < 1_000; id++) {
    unanswered.ask([ask(id)], MIB)
    unanswered.answer([answer(id)])
  }
  expect([unanswered.full, unanswered.requests]).toEqual([false, 0])
})
