// What a channel that is not read holds of events is bounded, and what is left out is told.
import { type Delivery, type JobEvent, LIMITS } from '@millrace/core'
import { expect, test } from 'vitest'
import { Unread } from './unread.ts'

let next = 1

function events(count: number): Delivery {
  const told = Array.from({ length: count }, () => ({ seq: next++ }) as JobEvent)
  return { replies: [], grants: [], notices: [], events: told, renewal: 0 }
}

const reply = { replies: [{ id: 1, value: true }], grants: [], notices: [], events: [], renewal: 0 }

test('up to the bound all go; beyond it none, until half is read; then the gap is told, once', () => {
  next = 1
  const unread = new Unread()
  const most = events(LIMITS.eventsUnread)
  expect(unread.admit(most)).toBe(most)
  expect(unread.admit(events(2))).toBeUndefined()
  unread.read(LIMITS.eventsUnread / 2 - 1)
  expect(unread.admit(events(3))).toBeUndefined()
  unread.read(1)
  const after = events(1)
  const gap = { kind: 'gap', first: LIMITS.eventsUnread + 1, last: LIMITS.eventsUnread + 5 }
  expect(unread.admit(after)).toEqual({ ...after, notices: [gap] })
  expect(unread.admit(events(1))?.notices).toEqual([])
})

test('what is no event always goes', () => {
  const unread = new Unread()
  unread.admit(events(LIMITS.eventsUnread))
  expect(unread.admit(reply)).toBe(reply)
  expect(unread.admit({ ...events(1), replies: reply.replies })).toEqual(reply)
})
