// Answers beside the bounds of docs/protocol.md: what no client takes is not written, and what a client cannot read ends that call alone.
import { type Delivery, type Reply, type Stats, TooLargeError } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { expectStrictlySame } from '../../testkit/src/testing/same.ts'
import { decodeMessage, encodeMessage } from './codec.ts'
import { HEADER_BYTES } from './frames.ts'
import type { Message } from './message.ts'
import { Writer } from './msgpack/writer.ts'

const NOTHING: Delivery = { replies: [], grants: [], notices: [], events: [], renewal: 0 }
const payloadOf = (delivery: Partial<Delivery>): Uint8Array =>
  encodeMessage({ type: 'delivery', delivery: { ...NOTHING, ...delivery } }).subarray(HEADER_BYTES)
const read = (payload: Uint8Array): Delivery => (decodeMessage(payload, 'server') as Extract<Message, { type: 'delivery' }>).delivery
const repliesOf = (payload: Uint8Array): readonly Reply[] => read(payload).replies

const array = (length: number, item: unknown = 1): unknown[] => Array.from({ length }, () => item)
const map = (length: number): Record<string, number> => Object.fromEntries(array(length).map((_, index) => [`k${index}`, index]))
const stats = (queues: number): Stats =>
  ({
    queues: Object.fromEntries(array(queues).map((_, index) => [`q${index}`, { waiting: 1 }])),
    states: {},
    totals: {},
    unserved: [],
    failing: [],
    workers: 0,
    writer: {},
    definitions: [{ name: 'a', defaults: { maxAttempts: 2 }, worker: 'w', host: 'h', saidAt: 5, disputedBy: ['v'] }],
    names: [],
    paused: false,
    node: 5,
    seq: 6,
    retrying: 7,
    store: { file: 'jobs.db', bytes: 8_192, freeBytes: 4_096, walBytes: 0, diskFreeBytes: 2 ** 40, oldestEventAt: 9 },
    owner: { host: 'h', pid: 10, epoch: 11 },
  }) as unknown as Stats

describe('what an answer may have, and one more', () => {
  test.each<[string, (count: number) => unknown, number, string]>([
    ['queues', (count) => array(count, { queue: 'q', paused: false }), 10_000, 'at most 10,000 items, got 10,001'],
    ['worker sessions', (count) => array(count, { worker: 'w' }), 10_000, 'at most 10,000 items'],
    ['exports', (count) => array(count, { name: 'e', mark: 1 }), 10_000, 'at most 10,000 items'],
    ['keys that are paused in one queue', (count) => [{ queue: 'q', pausedKeys: array(count, 'k') }], 10_000, 'at most 10,000 items'],
    [
      'jobs of a forward that are merged',
      (count) => ({ mark: 1, merged: array(count, { place: 1, job: { seq: 1, node: 1, enqueuedAt: 1 } }) }),
      10_000,
      'at most 10,000 items',
    ],
    ['keys of a map', map, 256, 'at most 256 items, got 257'],
    ['the length of a key', (count) => ({ ['k'.repeat(count)]: 1 }), 256, 'at most 256 UTF-16 units, got 257'],
    ['queues of the statistics', stats, 100_000, 'at most 100,000 items, got 100,001'],
  ])('%s', (_what, value, most, message) => {
    const replies = [{ id: 1, value: value(most) }]
    expectStrictlySame(repliesOf(payloadOf({ replies })), replies)
    const beyond = () => payloadOf({ replies: [{ id: 1, value: value(most + 1) }] })
    expect(beyond).toThrow(TooLargeError)
    expect(beyond).toThrow(message)
  })

  test('a refusal of more than a million characters', () => {
    expect(() => payloadOf({ replies: [{ id: 1, refusal: { code: 'INTERNAL', message: 'x'.repeat(2 ** 20 + 1) } }] })).toThrow(
      TooLargeError,
    )
  })

  test('a property whose name no reader takes is left out, as one that is undefined', () => {
    const value = JSON.parse('{"__proto__":1,"constructor":2,"prototype":3,"kept":4}')
    expect(repliesOf(payloadOf({ replies: [{ id: 1, value }] }))).toStrictEqual([{ id: 1, value: { kept: 4 } }])
  })
})

describe('one reply that cannot be read, between two that can', () => {
  /** [4, [7, [[1, 0], reply, [3, 0]], nil, [[3]]]]: a notice behind the replies. */
  const between = (reply: (out: Writer) => void): Uint8Array => {
    const out = new Writer()
    out.begin(0)
    out.array(2)
    out.number(4)
    out.array(4)
    out.number(7)
    out.array(3)
    for (const id of [1, 2, 3]) {
      if (id === 2) reply(out)
      else {
        out.array(2)
        out.number(id)
        out.number(0)
      }
    }
    out.nil()
    out.array(1)
    out.array(1)
    out.number(3)
    return out.take()
  }
  const answer = (value: (out: Writer) => void) => (out: Writer) => {
    out.array(3)
    out.number(2)
    out.number(4)
    value(out)
  }
  const manyTrues = (out: Writer) => {
    out.array(10_001)
    for (let left = 10_001; left > 0; left--) out.bool(true)
  }

  test.each<[string, (out: Writer) => void, string, string]>([
    ['an array of 10,001', answer(manyTrues), 'TOO_LARGE', 'at most 10000 items, got 10001'],
    [
      'one within others, with all that a value can be in front of it',
      answer((out) => {
        out.map(3)
        out.text('numbers')
        out.array(9)
        for (const number of [1, 200, 60_000, 2 ** 31, 2 ** 40, -3, -100, -30_000, 0.5]) out.number(number)
        out.text('bytes')
        out.bytes(new Uint8Array(300))
        out.text('x'.repeat(300))
        manyTrues(out)
      }),
      'TOO_LARGE',
      'at most 256 UTF-16 units',
    ],
    [
      '9 deep',
      answer((out) => {
        for (let depth = 0; depth < 9; depth++) out.array(1)
        out.nil()
      }),
      'TOO_LARGE',
      'at most 8 deep',
    ],
    [
      'a kind that nobody knows',
      (out) => {
        out.array(3)
        out.number(2)
        out.number(99)
        out.text('of a newer server')
      },
      'PROTOCOL',
      'a reply of kind 99',
    ],
    [
      'a refusal without a message',
      (out) => {
        out.array(3)
        out.number(2)
        out.number(1)
        out.text('CODE')
      },
      'PROTOCOL',
      'message: is missing',
    ],
    [
      'a map with a key twice',
      answer((out) => {
        out.map(2)
        for (let times = 0; times < 2; times++) {
          out.text('a')
          out.nil()
        }
      }),
      'PROTOCOL',
      'each key once',
    ],
  ])('%s', (_what, reply, code, message) => {
    const { renewal, replies, notices } = read(between(reply))
    expect(replies).toMatchObject([
      { id: 1, value: true },
      { id: 2, refusal: { code } },
      { id: 3, value: true },
    ])
    expect(replies[1]?.refusal?.message).toContain(message)
    expect([renewal, notices]).toEqual([7, [{ kind: 'reattach' }]])
  })

  test('where its end cannot be found, the frame is none', () => {
    const whole = between(answer(manyTrues))
    for (const length of [whole.length - 1, whole.length - 8, 5_000]) {
      expect(() => read(whole.slice(0, length))).toThrow(expect.objectContaining({ code: 'BAD_FRAME' }))
    }
  })
})
