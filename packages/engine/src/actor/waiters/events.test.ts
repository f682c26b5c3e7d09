/** A cursor through the journal: bounded pages, the wait at its end, and what is told when. */
import { DEFERRED, type EventFilter, type EventsPage, type JobEvent, LIMITS, type Reply } from '@millrace/core'
import type { Store } from '@millrace/core/kernel'
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { runs } from '../../../../testkit/src/testing/runs.ts'
import { EventWaiters } from './events.ts'

let journal: JobEvent[]
let followers: EventWaiters
let told: [connection: number, reply: Reply][]

const store = {
  events: (after: number, limit: number) => journal.filter(({ seq }) => seq > after).slice(0, limit),
} as unknown as Store

beforeEach(() => {
  journal = []
  followers = new EventWaiters()
  told = []
})

const last = () => journal.at(-1)?.seq ?? 0
const post = (connection: number, reply: Reply) => void told.push([connection, reply])

function ask(after: number, filter: EventFilter = {}, connection = 1, request = 1): EventsPage | typeof DEFERRED {
  return followers.ask(store, last(), { op: 'events', after, filter }, { connection, request })
}

function event(change: Partial<JobEvent> = {}): JobEvent {
  return {
    seq: last() + 1,
    type: 'enqueued',
    jobSeq: 1,
    node: 1,
    enqueuedAt: 5,
    queue: 'q',
    name: 'a',
    at: 5,
    run: 0,
    attempt: 0,
    ...change,
  }
}

/** A turn that commits so many events. */
function commit(count: number, change: Partial<JobEvent> = {}): void {
  const events: JobEvent[] = []
  for (let index = 0; index < count; index++) {
    const next = event(change)
    journal.push(next)
    events.push(next)
  }
  followers.committed(events, post)
}

const seqs = (page: EventsPage | typeof DEFERRED) => (page === DEFERRED ? page : page.events.map(({ seq }) => seq))

test('a page is bounded, and its next leads on', () => {
  commit(LIMITS.eventsPerPage + 2)
  const first = ask(0) as EventsPage
  expect(first.events).toHaveLength(LIMITS.eventsPerPage)
  expect(first.next).toBe(LIMITS.eventsPerPage)
  expect(seqs(ask(first.next))).toEqual([first.next + 1, first.next + 2])
})

test('at the end it waits for the next commit, and for the first that fits', () => {
  commit(1)
  expect(ask(1, {}, 1, 7)).toBe(DEFERRED)
  expect(ask(1, { name: 'b' }, 2, 8)).toBe(DEFERRED)
  commit(1)
  expect(told).toMatchObject([[1, { id: 7, value: { events: [{ seq: 2 }], next: 2 } }]])
  commit(1, { name: 'b' })
  expect(told.slice(1)).toMatchObject([[2, { id: 8, value: { events: [{ seq: 3 }], next: 3 } }]])
  expect(followers.waiting.size).toBe(0)
})

test('a commit of more than a page is told by the page', () => {
  ask(0)
  commit(LIMITS.eventsPerPage + 1)
  const page = told[0]?.[1].value as EventsPage
  expect(page.events).toHaveLength(LIMITS.eventsPerPage)
  expect(seqs(ask(page.next))).toEqual([LIMITS.eventsPerPage + 1])
})

test('what does not fit moves the cursor all the same: by the page, and now and then while it waits', () => {
  commit(LIMITS.eventsPerPage + 1)
  expect(ask(0, { name: 'b' })).toEqual({ events: [], next: LIMITS.eventsPerPage })
  expect(ask(LIMITS.eventsPerPage, { name: 'b' })).toBe(DEFERRED)
  commit(LIMITS.eventsPassed - 1)
  expect(told).toEqual([])
  commit(1)
  expect(told).toEqual([[1, { id: 1, value: { events: [], next: last() } }]])
})

test('what the journal has forgotten is a gap, but for who asks for the oldest', () => {
  commit(5)
  journal = journal.slice(3)
  expect(ask(1)).toMatchObject({ events: [{ seq: 4 }, { seq: 5 }], next: 5, gap: { after: 1, resumesAt: 4 } })
  expect(ask(3)).toEqual({ events: journal, next: 5 })
  expect(ask(0)).toEqual({ events: journal, next: 5 })
})

test('a journal that has forgotten all is a gap up to what comes', () => {
  const all = (after: number) => followers.ask(store, 9, { op: 'events', after, filter: {} }, { connection: 1, request: 1 })
  expect(all(4)).toEqual({ events: [], next: 9, gap: { after: 4, resumesAt: 10 } })
  expect(all(9)).toBe(DEFERRED)
})

test('a cursor ahead of the journal is of a file that was put back', () => {
  commit(2)
  expect(ask(7)).toEqual({ events: [], next: 2, gap: { after: 7, resumesAt: 3 } })
})

test('who has gone, or gives it up, is told nothing', () => {
  ask(0, {}, 1, 1)
  ask(0, {}, 1, 2)
  ask(0, {}, 2, 1)
  followers.forget(1, 1)
  followers.forget(2)
  commit(1)
  expect(told.map(([connection, { id }]) => [connection, id])).toEqual([[1, 2]])
})

test('after a reload each asks again from where it was, so that a commit that was never told is read', () => {
  ask(0, { name: 'b' }, 3, 4)
  commit(2)
  expect(followers.takeAll()).toEqual([{ command: { op: 'events', after: 2, filter: { name: 'b' } }, connection: 3, request: 4 }])
  expect(followers.waiting.size).toBe(0)
})

test('whatever is committed between questions, whoever follows next sees each event that fits once, in order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ count: fc.nat({ max: 1_200 }), name: fc.constantFrom('a', 'b'), ask: fc.boolean() }), { maxLength: 30 }),
      fc.constantFrom<EventFilter>({}, { name: 'b' }, { types: ['failed'] }),
      (steps, filter) => {
        journal = []
        followers = new EventWaiters()
        told = []
        const seen: number[] = []
        let after = 0
        let asked = 0
        const take = ({ events, next }: EventsPage) => {
          seen.push(...events.map(({ seq }) => seq))
          after = next
        }
        /** As a client does: one question at a time. */
        const read = () => {
          for (;;) {
            const answered = told.shift()
            if (answered !== undefined) take(answered[1].value as EventsPage)
            else if (followers.waiting.size > 0) return
            const page = ask(after, filter, 1, ++asked)
            if (page === DEFERRED) return
            take(page)
          }
        }
        for (const { count, name, ask: reads } of steps) {
          if (reads) read()
          commit(count, { name })
        }
        read()
        while (told.length > 0) read()
        const { name, types } = filter
        const wanted = journal.filter(
          (each) => (name === undefined || each.name === name) && (types === undefined || types.includes(each.type)),
        )
        expect(seen).toEqual(wanted.map(({ seq }) => seq))
      },
    ),
    { numRuns: runs(60) },
  )
})
