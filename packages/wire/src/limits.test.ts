// What a hostile or broken peer may send: each is refused at once, with the code and the place, and costs next to nothing.
import { LIMITS, type NewJob, type Request } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { decodeMessage, ELEMENTS_MAX, encodeCounted, encodeMessage } from './codec.ts'
import type { WireError } from './errors.ts'
import { HEADER_BYTES } from './frames.ts'
import type { Message, Role } from './message.ts'
import { Writer } from './msgpack/writer.ts'

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const join = (...parts: readonly (Uint8Array | string)[]): Uint8Array =>
  new Uint8Array(Buffer.concat(parts.map((part) => (typeof part === 'string' ? hex(part) : part))))
const zeros = (count: number): Uint8Array => new Uint8Array(count)
const text = (value: string): Uint8Array => {
  const writer = new Writer()
  writer.begin(0)
  writer.text(value)
  return writer.take()
}

function refused(payload: Uint8Array, from: Role = 'client'): string {
  let caught: WireError | undefined
  try {
    const message = decodeMessage(payload, from)
    // If the end of a reply or a request can be found, it alone is refused.
    const replies = message.type === 'delivery' ? message.delivery.replies : message.type === 'requests' ? message.requests : []
    const refusal = replies.map((each) => ('refusal' in each ? each.refusal : undefined))[0]
    if (refusal !== undefined)
      return `${refusal.code === 'OPTION_RANGE' || refusal.code === 'OPTION_TYPE' ? refusal.code : 'BAD_FRAME'}: ${refusal.message}`
  } catch (error) {
    caught = error as WireError
  }
  expect(caught).toMatchObject({ name: 'WireError', retryable: false })
  return `${caught?.code}: ${caught?.message}`
}

/** A reply of any value: [4, [0, [[1, 4, value]]]]. */
const replying = (...value: readonly (Uint8Array | string)[]): Uint8Array => join('92 04 92 00 91 93 01 04', ...value)
/** A ping with another field behind it. */
const followed = (...value: readonly (Uint8Array | string)[]): Uint8Array => join('93 05 07', ...value)
/** A request with these fields behind its id: [3, [[1, ...]]]. */
const asking = (fields: number, ...rest: readonly (Uint8Array | string)[]): Uint8Array =>
  join('92 03 91', new Uint8Array([0x91 + fields]), '01', ...rest)

describe('bombs', () => {
  test('millions of tiny jobs in a frame that is small enough', () => {
    // [id, 1 enqueue, jobs], of 500 jobs called `a`, each four bytes with the head of its array; 3.9 MB in all.
    const jobs = join('dc 01 f4', ...Array.from({ length: 500 }, () => '91 a1 61'))
    const request = join('93 01 01', jobs)
    const payload = join('92 03 dc 0a 28', ...Array.from({ length: 2_600 }, () => request))
    const beforeBytes = process.memoryUsage().heapUsed
    expect(refused(payload)).toMatch(/^BAD_FRAME: .*more items in one frame/)
    expect(process.memoryUsage().heapUsed - beforeBytes).toBeLessThan(200 * 2 ** 20)
    expect(refused(replying('dc 27 10', ...Array.from({ length: 10_000 }, () => join('dc 01 f5', zeros(501)))), 'server')).toMatch(
      /^BAD_FRAME: .*more items in one frame/,
    )
  })

  test('the largest call that there is can be said', () => {
    const job: NewJob = {
      name: 'a',
      data: null,
      queue: 'q',
      priority: 1,
      runAt: 1,
      idempotencyKey: 'k',
      unique: { key: 'k', onConflict: 'skip' },
      maxAttempts: 2,
      timeout: 1,
      heartbeatTimeout: 1,
      backoff: { type: 'fixed', delay: 1, factor: 2, maxDelay: 1, jitter: 0.5 },
      ttl: 1,
      idempotencyTtl: 1,
      weight: 2,
      concurrencyKey: 'c',
      tags: Array.from({ length: LIMITS.tagsPerJob }, (_, index) => `t${index}`),
      meta: '{}',
    }
    const jobs = Array.from({ length: LIMITS.jobsPerCommand }, () => job)
    const { frame, elements } = encodeCounted({ type: 'requests', requests: [{ id: 1, command: { op: 'enqueue', jobs } }] })
    expect(elements).toBeLessThan(ELEMENTS_MAX.client)
    expect(decodeMessage(frame.subarray(HEADER_BYTES), 'client').type).toBe('requests')
  })

  const deep = (levels: number): Uint8Array => new Uint8Array(Buffer.alloc(levels * 3, hex('dc ff ff')))

  test.each([
    ['where the message begins', deep(24_000), 'client'],
    ['in a reply', replying(deep(24_000)), 'server'],
    ['in a field that nobody knows', followed(deep(24_000)), 'client'],
  ] as const)('72 KB of arrays of 65,535 within each other, %s', (_where, payload, from) => {
    expect(refused(payload, from)).toMatch(/^BAD_FRAME: .*an array of at most \d+ items, got 65535/)
  })

  test.each([
    ['where the message begins', Buffer.alloc(2 ** 20, 0x91), 'client', 'an integer|number'],
    ['in a reply', replying(Buffer.alloc(2 ** 20, 0x91)), 'server', 'at most 8 deep'],
    ['in a field that nobody knows', followed(Buffer.alloc(2 ** 20, 0x91)), 'client', 'at most 8 deep'],
    ['as maps', replying(Buffer.alloc(2 ** 20, hex('81 a1 61'))), 'server', 'at most 8 deep'],
  ] as const)('1 MB of arrays of one within each other, %s', (_where, payload, from, message) => {
    const before = process.memoryUsage().rss
    expect(refused(payload, from)).toMatch(new RegExp(`^BAD_FRAME: .*(${message})`))
    expect(process.memoryUsage().rss - before).toBeLessThan(16 * 2 ** 20)
  })

  test('9 deep, where 8 are allowed', () => {
    expect(decodeMessage(replying('91'.repeat(8), 'c0'), 'server')).toBeDefined()
    expect(refused(replying('91'.repeat(9), 'c0'), 'server')).toContain('at most 8 deep')
    expect(decodeMessage(followed('91'.repeat(8), 'c0'), 'client')).toEqual({ type: 'ping', nonce: 7 })
    expect(refused(followed('91'.repeat(9), 'c0'))).toContain('at most 8 deep')
  })
})

describe('lengths that are announced and not there', () => {
  test.each([
    ['a string', 'db ff ff ff ff', '4294967295 bytes'],
    ['bytes', 'c6 ff ff ff ff', '4294967295 bytes'],
    ['an array', 'dd ff ff ff ff', 'at most 10000 items'],
    ['an array of what is allowed', 'dc 27 10', 'the payload ends within an array'],
    ['a map', 'df ff ff ff ff', 'a map of at most 256 items'],
    ['a map of what is allowed', 'de 01 00', 'the payload ends within a map'],
    ['a short string', 'a3 61 62', '3 bytes, where 2 are left'],
    ['half a length', 'da 00', 'ends too soon'],
    ['half a number', 'cf 00 00', 'ends too soon'],
    ['half a float', 'cb 00', '8 bytes'],
    ['nothing at all', '', 'ends'],
  ])('%s', (_what, value, message) => {
    expect(refused(replying(value), 'server')).toMatch(new RegExp(`^BAD_FRAME: .*${message}`))
  })

  test('every message, cut anywhere, is refused', () => {
    const whole = encodeMessage({
      type: 'requests',
      requests: [
        {
          id: 1,
          command: { op: 'enqueue', jobs: [{ name: 'resize', data: '{}', unique: { key: 'k', onConflict: 'skip' }, tags: ['a'] }] },
        },
        { id: 2, command: { op: 'complete', seq: 2 ** 40, run: 1, output: new Uint8Array(3) } },
      ],
    }).subarray(HEADER_BYTES)
    for (let length = 0; length < whole.length; length++) expect(refused(whole.slice(0, length))).toMatch(/^BAD_FRAME/)
  })
})

describe('limits of what is there', () => {
  test('an array of 10,001', () => {
    expect(refused(replying('dc 27 11', zeros(10_001)), 'server')).toContain('at most 10000 items, got 10001')
    expect(refused(followed('dc 27 11', zeros(10_001)))).toContain('at most 10000 items, got 10001')
  })

  test('a map of 257', () => {
    const entries = Array.from({ length: 257 }, (_, index) => join(text(`k${index}`), 'c0'))
    expect(refused(replying('de 01 01', ...entries), 'server')).toContain('at most 256 items, got 257')
  })

  test('a key of 257', () => {
    expect(refused(replying('81', text('k'.repeat(257)), 'c0'), 'server')).toContain('at most 256 UTF-16 units')
  })

  test('65 fields', () => {
    expect(refused(join('dc 00 41 05 07', zeros(63)))).toContain('at most 64 items, got 65')
    expect(decodeMessage(join('dc 00 40 05 07', zeros(62)), 'client')).toEqual({ type: 'ping', nonce: 7 })
  })
})

describe('what MessagePack has and the protocol has not', () => {
  test.each([
    ['fixext 1', 'd4 01 00'],
    ['fixext 8', 'd7 ff 00 00 00 00 00 00 00 00'],
    ['fixext 16', `d8 01 ${'00'.repeat(16)}`],
    ['ext 8', 'c7 01 05 00'],
    ['ext 16', 'c8 00 01 05 00'],
    ['ext 32', 'c9 00 00 00 01 05 00'],
    ['timestamp', 'd6 ff 00 00 00 00'],
  ])('an extension: %s', (_what, value) => {
    expect(refused(replying(value), 'server')).toContain('an extension type, and there are none')
    expect(refused(followed(value))).toContain('an extension type')
    expect(refused(asking(2, '01', value))).toContain('an extension type')
  })

  test.each([
    ['the byte c1', 'c1', 'c1'],
    ['NaN', 'cb 7f f8 00 00 00 00 00 00', 'NaN'],
    ['2^53', 'cf 00 20 00 00 00 00 00 00', '53 bits'],
    ['−2^53', 'd3 ff e0 00 00 00 00 00 00', '53 bits'],
    ['2^64 − 1', 'cf ff ff ff ff ff ff ff ff', '53 bits'],
    ['−2^63', 'd3 80 00 00 00 00 00 00 00', '53 bits'],
  ])('%s', (_what, value, message) => {
    expect(refused(replying(value), 'server')).toContain(message)
  })

  test('other widths than the shortest are read', () => {
    for (const nonce of ['07', 'cc 07', 'cd 00 07', 'ce 00 00 00 07', `cf ${'00'.repeat(7)} 07`, 'd0 07', 'd1 00 07', 'ca 40 e0 00 00']) {
      expect(decodeMessage(join('92 05', nonce), 'client')).toEqual({ type: 'ping', nonce: 7 })
    }
  })
})

describe('maps', () => {
  test.each(['__proto__', 'constructor', 'prototype'])('no key %s', (key) => {
    expect(refused(replying('81', text(key), '81 a1 78 01'), 'server')).toContain(`no key ${key}`)
    expect('x' in {}).toBe(false)
  })

  test('each key once', () => {
    expect(refused(replying('82 a1 61 01 a1 61 02'), 'server')).toContain('each key once, not "a" again')
  })

  test('keys are strings', () => {
    expect(refused(replying('81 01 01'), 'server')).toContain('a string, got a number')
  })

  test('what comes out is a plain object', () => {
    const { delivery } = decodeMessage(replying('81 a8 746f537472696e67 01'), 'server') as Extract<Message, { type: 'delivery' }>
    expect(delivery.replies[0]?.value).toStrictEqual({ toString: 1 })
  })
})

describe('texts', () => {
  test.each([
    ['cut short', 'a1 c3'],
    ['overlong', 'a2 c0 80'],
    ['overlong, of three', 'a3 e0 80 80'],
    ['a lone continuation', 'a1 80'],
    ['beyond U+10FFFF', 'a4 f4 90 80 80'],
    ['a byte that never is', 'a1 ff'],
    ['a pair as two halves', 'a6 ed a0 80 ed b0 80'],
  ])('%s', (_what, value) => {
    expect(refused(replying(value), 'server')).toContain('UTF-8')
  })
})

describe('messages', () => {
  test('nothing may follow', () => {
    expect(refused(hex('92 05 07 00'))).toBe('BAD_FRAME: nonce: 1 bytes follow the message (before byte 3 of 4)')
  })

  test('a message is an array that begins with its type', () => {
    expect(refused(hex('07'))).toContain('an array, got a number')
    expect(refused(hex('90'))).toContain('type: is missing')
    expect(refused(hex('91 63'))).toContain('type: 99 is none that is known')
    expect(refused(hex('91 00'))).toContain('type: 0 is none that is known')
    expect(refused(hex('91 ff'))).toContain('type: -1 is none that is known')
  })

  test('what the other end sends', () => {
    const welcome = encodeMessage({
      type: 'welcome',
      version: 1,
      server: 's',
      node: 1,
      scopes: [],
      limits: { frameBytes: 1, requestsInFlight: 1, bytesInFlight: 1, pingMs: 1, silenceMs: 1 },
    })
    expect(refused(welcome.subarray(HEADER_BYTES), 'client')).toBe('BAD_MESSAGE: a client never sends welcome')
    expect(refused(hex('92 03 90'), 'server')).toBe('BAD_MESSAGE: a server never sends requests')
  })

  test('fields at the end that say nothing may be left out, others not', () => {
    expect(decodeMessage(hex('92 04 91 07'), 'server')).toEqual({
      type: 'delivery',
      delivery: { renewal: 7, replies: [], grants: [], notices: [], events: [] },
    })
    expect(refused(hex('91 05'))).toContain('nonce: is missing: ping has 1 fields, and only 0 came')
  })

  test('fields that a newer peer has added are passed over', () => {
    const newer = join('95 05 07 82 a1 61 93 01 02 03 a1 62 c4 02 00 00 cb 3f f0 00 00 00 00 00 00', text('later'))
    expect(decodeMessage(newer, 'client')).toEqual({ type: 'ping', nonce: 7 })
  })
})

describe('requests are held to the same bounds as options', () => {
  const enqueue = (...job: readonly (Uint8Array | string)[]): Uint8Array => asking(2, '01 91', ...job)
  test.each([
    ['a name with a space', enqueue('91', text('a b')), 'OPTION_TYPE: jobs[0].name must be a name of 1 to 128'],
    ['no name', enqueue('91', text('')), 'OPTION_TYPE: jobs[0].name must be a name of 1 to 128'],
    ['a name that is too long', enqueue('91', text('a'.repeat(129))), 'OPTION_RANGE: jobs[0].name must be a string of at most 128'],
    [
      'no such priority',
      enqueue('94', text('a'), 'c0 c0 ce 00 0f 42 41'),
      'OPTION_RANGE: jobs[0].priority must be an integer between -1000000 and 1000000, got 1000001',
    ],
    [
      'half a priority',
      enqueue('94', text('a'), 'c0 c0 cb 3f e0 00 00 00 00 00 00'),
      'OPTION_TYPE: jobs[0].priority must be a whole number',
    ],
    [
      'a key of half a pair',
      enqueue('97', text('a'), 'c0 c0 c0 c0 c0', text('\ud800')),
      'OPTION_TYPE: jobs[0].idempotencyKey must be a key',
    ],
    ['data that is a number', enqueue('92', text('a'), '07'), 'OPTION_TYPE: jobs[0].data must be a string, bytes or nil, got a number'],
    ['a page that is too long', asking(3, '19 90 cc c9'), 'OPTION_RANGE: limit must be an integer between 1 and 200, got 201'],
    ['a state that is none', asking(3, '19 91 07 01'), 'OPTION_RANGE: filter.state must be an integer between 0 and 6, got 7'],
    ['a fraction beyond 1', asking(4, '0c 01 01 02'), 'OPTION_RANGE: fraction must be a number between 0 and 1, got 2'],
    ['time that is negative', enqueue('95', text('a'), 'c0 c0 c0 ff'), 'OPTION_RANGE: jobs[0].delay must be at least 0 ms, got -1 ms'],
    ['no id', asking(1, '0e'), 'OPTION_TYPE: id is missing: get has 3 fields, and only 0 came'],
    ['an operation that nobody knows', asking(1, '63'), 'BAD_FRAME: op: 99 is none that is known'],
    ['no operation', asking(0), 'BAD_FRAME: request id: a request has an id and an operation'],
  ])('%s', (_what, payload, message) => {
    expect(refused(payload)).toContain(message)
  })

  test('one with a wrong field ends its own call, and the requests around it are read', () => {
    const said = (id: string, ...fields: readonly (Uint8Array | string)[]) => join(new Uint8Array([0x91 + fields.length]), id, ...fields)
    const payload = join('92 03 93', said('01', '17'), said('02', '01', join('91 91', text('a b'))), said('03', '17'))
    expect(decodeMessage(payload, 'client')).toMatchObject({
      requests: [
        { id: 1, command: { op: 'stats' } },
        { id: 2, refusal: { code: 'OPTION_TYPE', details: { option: 'jobs[0].name' } } },
        { id: 3, command: { op: 'stats' } },
      ],
    })
  })

  test('what is only too much is cut', () => {
    const requests = (decoded: Message) => ((decoded as Extract<Message, { type: 'requests' }>).requests[0] as Request | undefined)?.command
    const failing = asking(4, '07 01 01 92', text('E'), text('x'.repeat(5_000)))
    expect(requests(decodeMessage(failing, 'client'))).toMatchObject({ error: { message: 'x'.repeat(4_096) } })
    const late = asking(4, '08 01 01 cb 43 e0 00 00 00 00 00 00')
    expect(requests(decodeMessage(late, 'client'))).toMatchObject({ delay: 3_153_600_000_000 })
  })
})
