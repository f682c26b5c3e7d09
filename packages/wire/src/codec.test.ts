import { type Command, LIMITS, type Reply, type Request, type Stats } from '@millrace/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../testkit/src/testing/runs.ts'
import { decodeMessage, encodeMessage } from './codec.ts'
import { HEADER_BYTES } from './frames.ts'
import type { Message, Role } from './message.ts'
import { COMMANDS, MESSAGES, message } from './testing/arbitraries.ts'

/** Of messages that both ends send, any. */
const FROM: Readonly<Record<Message['type'], Role>> = {
  hello: 'client',
  welcome: 'server',
  requests: 'client',
  delivery: 'server',
  ping: 'client',
  pong: 'server',
  goodbye: 'server',
}

function roundTrip(sent: Message): Message {
  const frame = encodeMessage(sent)
  expect(new DataView(frame.buffer).getUint32(0)).toBe(frame.length - HEADER_BYTES)
  return decodeMessage(frame.subarray(HEADER_BYTES), FROM[sent.type])
}

const asked = (command: Command): Message => ({ type: 'requests', requests: [{ id: 1, command }] })
const answered = (value: unknown): Message => ({
  type: 'delivery',
  delivery: { replies: [{ id: 1, value }], grants: [], notices: [], events: [], renewal: 0 },
})

describe('every message comes out as it went in', () => {
  test.each(Object.entries(MESSAGES))('%s', (type, fields) => {
    fc.assert(
      fc.property(fields as fc.Arbitrary<object>, (of) => {
        const sent = { type, ...of } as Message
        expect(roundTrip(sent)).toStrictEqual(sent)
      }),
      { numRuns: runs(200) },
    )
  })

  test.each(Object.entries(COMMANDS))('a request to %s', (op, fields) => {
    fc.assert(
      fc.property(fields as fc.Arbitrary<object>, (of) => {
        const sent = asked({ op, ...of } as Command)
        expect(roundTrip(sent)).toStrictEqual(sent)
      }),
    )
  })

  test('and as the same bytes again', () => {
    fc.assert(
      fc.property(message, (sent) => {
        const frame = encodeMessage(sent)
        expect(encodeMessage(decodeMessage(frame.subarray(HEADER_BYTES), FROM[sent.type]))).toEqual(frame)
      }),
    )
  })
})

describe('values of a job', () => {
  const half = '\ud800'
  test.each([
    ['nothing', null],
    ['an empty text', ''],
    ['an empty block', new Uint8Array(0)],
    ['1 MiB of text', 'x'.repeat(LIMITS.dataBytes)],
    ['1 MiB of text beyond ASCII', 'ä'.repeat(LIMITS.dataBytes / 2)],
    ['1 MiB of bytes', new Uint8Array(LIMITS.dataBytes).fill(7)],
    ['NUL', '"\0"'],
    ['half of a pair', `"${half}"`],
    ['many halves', half.repeat(10_000)],
    ['both halves, the wrong way round', '\udc00\ud800'],
    ['a half beside a pair', `${half}😀${half}`],
    ['the replacement character', '\ufffd'],
    ['31 bytes', 'x'.repeat(31)],
    ['32 bytes', 'x'.repeat(32)],
    ['31 units of 62 bytes', 'ä'.repeat(31)],
    ['255 units of 510 bytes', 'ä'.repeat(255)],
    ['65,535 units of 131,070 bytes', 'ä'.repeat(65_535)],
    ['65,536 bytes', 'x'.repeat(65_536)],
  ])('%s', (_what, data) => {
    const sent = asked({ op: 'enqueue', jobs: [{ name: 'a', data }] })
    expect(roundTrip(sent)).toStrictEqual(sent)
  })

  test('bytes are a copy: nothing keeps the payload', () => {
    const frame = encodeMessage(asked({ op: 'checkpoint', seq: 1, run: 1, value: new Uint8Array([1, 2, 3]) }))
    const read = decodeMessage(frame.subarray(HEADER_BYTES), 'client') as Extract<Message, { type: 'requests' }>
    frame.fill(0)
    const { value } = (read.requests[0] as Request).command as Extract<Command, { op: 'checkpoint' }>
    expect(value).toStrictEqual(new Uint8Array([1, 2, 3]))
    expect((value as Uint8Array).buffer.byteLength).toBe(3)
  })
})

describe('numbers', () => {
  const EDGES = [0, 1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 48, Number.MAX_SAFE_INTEGER]
  test.each([
    ...EDGES,
    ...EDGES.filter((edge) => edge > 0).map((edge) => -edge),
    -32,
    -33,
    -129,
    -32_769,
    0.5,
    -1.5e300,
    2 ** 53,
    -(2 ** 60),
  ])('%d', (number) => {
    expect(roundTrip(answered(number))).toStrictEqual(answered(number))
  })

  test('no limit is Infinity', () => {
    const sent = asked({ op: 'enqueue', jobs: [{ name: 'a', data: null, timeout: Number.POSITIVE_INFINITY }] })
    expect(roundTrip(sent)).toStrictEqual(sent)
  })

  test('−0 is 0, NaN has no form', () => {
    expect(roundTrip(answered(-0))).toStrictEqual(answered(0))
    expect(roundTrip(answered([Number.NaN]))).toStrictEqual(answered([null]))
    expect(() => encodeMessage({ type: 'ping', nonce: Number.NaN })).toThrow('NaN')
  })
})

describe('replies that are seldom', () => {
  test('properties that are undefined are left out; what has no form becomes nil', () => {
    const value = { a: undefined, b: [undefined, () => 1, Symbol('x'), 1n], c: new Map([[1, 2]]) }
    expect(roundTrip(answered(value))).toStrictEqual(answered({ b: [null, null, null, null], c: {} }))
  })

  test('what is deeper than 8 becomes nil', () => {
    const nest = (depth: number, inner: unknown): unknown => (depth === 0 ? inner : [nest(depth - 1, inner)])
    expect(roundTrip(answered(nest(8, 1)))).toStrictEqual(answered(nest(8, 1)))
    expect(roundTrip(answered(nest(9, 1)))).toStrictEqual(answered(nest(8, null)))
  })

  test('an empty array of anything', () => {
    expect(roundTrip(answered([]))).toStrictEqual(answered([]))
  })
})

test('who lives in the engine’s process is never told over a connection', () => {
  const session = {
    uuid: 'u',
    worker: 'w',
    host: 'h',
    pid: 1,
    local: true,
    handlers: [],
    minConcurrency: 1,
    maxConcurrency: 1,
    abortGrace: 0,
  }
  const read = roundTrip(asked({ op: 'attach', session, held: [] }))
  expect(read).toStrictEqual(asked({ op: 'attach', session: { ...session, local: false }, held: [] }))
})

test('queues may be called what objects are made of', () => {
  const queues = JSON.parse('{"__proto__":{"waiting":1},"constructor":{"waiting":2},"prototype":{"waiting":3}}')
  const read = roundTrip(answered({ queues, states: {}, totals: {}, unserved: [], workers: 0, writer: {} }))
  const { replies } = (read as Extract<Message, { type: 'delivery' }>).delivery
  expect(JSON.stringify((replies[0] as Reply & { value: Stats }).value.queues)).toBe(JSON.stringify(queues))
  expect('waiting' in {}).toBe(false)
})

test('10,000 of each, and no more', () => {
  const requests = (length: number): Message => ({
    type: 'requests',
    requests: Array.from({ length }, (_, id): Request => ({ id, command: { op: 'stats' } })),
  })
  const replies = (length: number): Message => ({
    type: 'delivery',
    delivery: { replies: Array.from({ length }, (_, id): Reply => ({ id, value: true })), grants: [], notices: [], events: [], renewal: 0 },
  })
  for (const many of [requests, replies]) {
    expect(roundTrip(many(10_000))).toStrictEqual(many(10_000))
    expect(() => roundTrip(many(10_001))).toThrow('10,000')
  }
})

test('a part of a millisecond counts as a whole one: there are no parts in a file', () => {
  const job = {
    name: 'a',
    data: null,
    delay: 10.5,
    ttl: 0.5 + 1,
    timeout: Number.POSITIVE_INFINITY,
    backoff: { type: 'fixed', delay: 0.1 },
  } as const
  const error = { name: 'Error', message: '' }
  const requests: Request[] = [
    { id: 1, command: { op: 'enqueue', jobs: [job] } },
    { id: 2, command: { op: 'fail', seq: 1, run: 1, error, retry: 0.25 } },
    { id: 3, command: { op: 'snooze', seq: 1, run: 1, delay: 7.000_1 } },
  ]
  const read = decodeMessage(encodeMessage({ type: 'requests', requests }).subarray(4), 'client')
  expect((read as { requests: unknown }).requests).toEqual([
    { id: 1, command: { op: 'enqueue', jobs: [{ ...job, delay: 11, ttl: 2, backoff: { type: 'fixed', delay: 1 } }] } },
    { id: 2, command: { op: 'fail', seq: 1, run: 1, error, retry: 1 } },
    { id: 3, command: { op: 'snooze', seq: 1, run: 1, delay: 8 } },
  ])
})
