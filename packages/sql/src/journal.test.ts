import {
  JOB_EVENT_TYPES,
  type JournalEvent,
  MISS_REASONS,
  NODE_LIMIT,
  SEQ_LIMIT,
  SYSTEM_EVENT_TYPES,
  type SystemEventBody,
} from '@millrace/core'
import type { EventNote, Job, SystemEventNote } from '@millrace/core/kernel'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ByteReader, ByteWriter } from './bytes.ts'
import { decodeEvents, encodeEvents } from './journal.ts'

const OWN_NODE = 4_711
const time = fc.integer({ min: 0, max: 2 ** 43 })
const node = fc.integer({ min: 1, max: NODE_LIMIT - 1 })

const note: fc.Arbitrary<EventNote> = fc
  .record({
    type: fc.constantFrom(...JOB_EVENT_TYPES),
    seq: fc.oneof(
      fc.integer({ min: 1, max: 300 }),
      fc.maxSafeInteger().map((value) => 1 + (Math.abs(value) % (SEQ_LIMIT - 1))),
    ),
    node: fc.oneof(fc.constant(OWN_NODE), node),
    laneId: fc.integer({ min: 1, max: 100_000 }),
    enqueuedAt: time,
    run: fc.integer({ min: 0, max: 2 ** 33 }),
    uncounted: fc.integer({ min: 0, max: 4 }),
    error: fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined }),
    value: fc.option(time, { nil: undefined }),
    fraction: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
  })
  .map(({ type, seq, node: jobNode, laneId, enqueuedAt, run, uncounted, error, value, fraction }) => {
    const job = { seq, node: jobNode, enqueuedAt, lane: { id: laneId } } as unknown as Job
    return { type, job, run, attempt: run - Math.min(run, uncounted), error, value: type === 'progress' ? fraction : value }
  })

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 128 })

const systemEventNote: fc.Arbitrary<SystemEventNote> = fc
  .record({
    type: fc.constantFrom(...SYSTEM_EVENT_TYPES),
    subject: text,
    name: fc.option(text, { nil: undefined }),
    key: fc.option(text, { nil: undefined }),
    session: text,
    seq: fc.option(fc.integer({ min: 1, max: SEQ_LIMIT - 1 }), { nil: undefined }),
    tick: fc.option(time, { nil: undefined }),
    reason: fc.option(fc.constantFrom(...MISS_REASONS), { nil: undefined }),
  })
  .map(({ type, subject, name, key, session, seq, tick, reason }) => {
    const of = type.split('.')[0] as 'queue' | 'schedule' | 'worker' | 'engine'
    if (of === 'engine') return { type, job: undefined, body: { type } as SystemEventBody }
    const job = seq !== undefined && { job: { seq, node: 0, enqueuedAt: 0 } }
    const ofQueue = { ...(name !== undefined && { name }), ...(key !== undefined && { key }) }
    const ofSchedule = { ...job, ...(tick !== undefined && { tick }), ...(reason !== undefined && { reason }) }
    const more = { queue: ofQueue, schedule: ofSchedule, worker: { session } }[of]
    return { type, job: undefined, body: { type, [of]: subject, ...more } as unknown as SystemEventBody }
  })

const laneOf = (id: number) => ({ queue: `q${id}`, name: `n${id}` })

function expected(note: EventNote | SystemEventNote, seq: number, at: number): JournalEvent {
  if (note.job === undefined) {
    const job = 'job' in note.body && { job: { seq: note.body.job?.seq ?? 0, node: OWN_NODE, enqueuedAt: at } }
    return { seq, at, ...note.body, ...job } as JournalEvent
  }
  const { type, job, run, attempt, error, value } = note
  const { queue, name } = laneOf(job.lane.id)
  return {
    ...{ seq, type, jobSeq: job.seq, node: job.node, enqueuedAt: job.enqueuedAt, queue, name, at, run, attempt },
    ...(error !== undefined && { error }),
    ...(value !== undefined && (type === 'progress' ? { fraction: value } : { runAt: value })),
  }
}

describe('a journal row', () => {
  test('gives back what was packed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(note, systemEventNote), { minLength: 1, maxLength: 50 }),
        time,
        fc.integer({ min: 1, max: 2 ** 48 }),
        (events, at, firstEvent) => {
          const packed = encodeEvents(events, at, OWN_NODE).slice()
          const decoded = decodeEvents({ firstEvent, at, count: events.length, packed }, laneOf)
          expect(decoded).toEqual(events.map((event, index) => expected(event, firstEvent + index, at)))
        },
      ),
    )
  })

  test('takes three bytes for most events', () => {
    const lane = { id: 3 }
    const events = Array.from({ length: 1_000 }, (_, index): EventNote => {
      const job = { seq: 5_000_000 + index, node: 5, enqueuedAt: 1_700_000_000_000, lane } as unknown as Job
      return { type: 'completed', job, run: 1, attempt: 1, error: undefined, value: undefined }
    })
    expect(encodeEvents(events, 1_700_000_000_100, 5).length).toBeLessThan(3_030)
  })

  test('of an unknown format or an unknown event is refused by name', () => {
    expect(() => decodeEvents({ firstEvent: 9, at: 0, count: 1, packed: Uint8Array.of(7) }, laneOf)).toThrow(
      'journal row 9 has the unknown format 7',
    )
    const unknown = Uint8Array.of(1, 5, 30, 2, 0)
    expect(() => decodeEvents({ firstEvent: 9, at: 0, count: 1, packed: unknown }, laneOf)).toThrow('unknown type 30')
    const unknownType = Uint8Array.of(1, 5, 31, 99, 0, 1, 65)
    expect(() => decodeEvents({ firstEvent: 9, at: 0, count: 1, packed: unknownType }, laneOf)).toThrow('unknown kind 99')
  })

  test('that is cut off is refused', () => {
    expect(() => decodeEvents({ firstEvent: 9, at: 0, count: 1, packed: Uint8Array.of(1, 5) }, laneOf)).toThrow(RangeError)
  })
})

test('numbers up to 2^52 come back from bytes', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -(2 ** 52), max: 2 ** 52 - 1 })), (values) => {
      const writer = new ByteWriter(1)
      for (const value of values) writer.signed(value)
      const reader = new ByteReader(writer.bytes())
      expect(values.map(() => reader.signed())).toEqual(values)
    }),
  )
})
