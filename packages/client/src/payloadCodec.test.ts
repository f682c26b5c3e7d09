/** The codec around data: what leaves is encoded, what comes is decoded, and what cannot be says so. */
import { CodecError, type CommandOf, type Operation, type ReplyOf } from '@millrace/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PayloadCodec } from './payloadCodec.ts'

const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0xff)
const codec = new PayloadCodec({ encode: flip, decode: flip }, 1_000)

describe('data', () => {
  test('comes back as it was: text, bytes, nothing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.uint8Array({ maxLength: 100 }), fc.constant(null), fc.constantFrom('', '"\u0000é😀"')), (data) => {
        const sealed = codec.encode('data', data)
        if (data === null) expect(sealed).toBeNull()
        else expect(sealed).toBeInstanceOf(Uint8Array)
        expect(codec.decode('data', sealed)).toEqual(data)
      }),
    )
  })

  test('that was stored before there was a codec is read as it is, where it is text', () => {
    expect(codec.decode('data', '{"n":1}')).toBe('{"n":1}')
  })

  test('is its own piece of memory, whatever the codec has answered', () => {
    const pooled = new PayloadCodec({ encode: (bytes) => Buffer.concat([bytes]), decode: (bytes) => Buffer.concat([bytes]) }, 1_000)
    const sealed = pooled.encode('data', new Uint8Array([1, 2])) as Uint8Array
    expect(sealed.buffer.byteLength).toBe(3)
    const opened = pooled.decode('data', sealed) as Uint8Array
    expect([opened.buffer.byteLength, Buffer.isBuffer(opened)]).toEqual([2, false])
  })
})

const WRONG: readonly (readonly [string, () => unknown, RegExp])[] = [
  [
    'throws',
    () => {
      throw new Error('no key')
    },
    /thrown for the data of the job: no key/,
  ],
  ['answers a promise', () => Promise.resolve(new Uint8Array()), /a Uint8Array, not a promise/],
  ['answers a promise that fails', () => Promise.reject(new Error('late')), /not a promise/],
  ['answers text', () => 'text', /not string/],
]

test.each(WRONG)('a codec that %s', (_what, wrong, says) => {
  const broken = new PayloadCodec({ encode: wrong as never, decode: wrong as never }, 1_000)
  for (const call of [() => broken.encode('data', '1'), () => broken.decode('data', new Uint8Array([1]))]) {
    expect(call).toThrow(CodecError)
    expect(call).toThrow(says)
  }
})

test.each([
  ['nothing', []],
  ['another kind', [9, 9]],
  ['no text', [0, 0xff]],
])('decoded to %s', (_what, bytes) => {
  const other = new PayloadCodec({ encode: flip, decode: () => new Uint8Array(bytes) }, 1_000)
  expect(() => other.decode('output', new Uint8Array([1]))).toThrow(CodecError)
})

test('what grows beyond maxDataBytes is refused', () => {
  expect(() => codec.encode('output', 'x'.repeat(1_000))).toThrow(/1001 bytes of output, and at most 1000/)
})

describe('calls', () => {
  const sent: CommandOf<Operation>[] = []
  const calls = codec.around({
    call: (command) => {
      sent.push(command as CommandOf<Operation>)
      return Promise.resolve(true as never)
    },
  })
  const sealed = (data: string) => codec.encode('data', data)

  test('have all of their data encoded', async () => {
    const jobs = [{ name: 'a', data: '1', priority: 3 }]
    await calls.call<'complete'>({ op: 'complete', seq: 1, run: 1, output: '2', enqueues: jobs })
    await calls.call<'complete'>({ op: 'complete', seq: 1, run: 1, output: null })
    await calls.call<'checkpoint'>({ op: 'checkpoint', seq: 1, run: 1, value: '3' })
    const id = { seq: 1, node: 1, enqueuedAt: 1 }
    await calls.call<'update'>({ op: 'update', id, changes: { data: '4', priority: 1 } })
    await calls.call<'update'>({ op: 'update', id, changes: { checkpoint: '5' } })
    await calls.call<'drain'>({ op: 'drain', session: 's' })
    expect(sent).toEqual([
      { op: 'complete', seq: 1, run: 1, output: sealed('2'), enqueues: [{ name: 'a', data: sealed('1'), priority: 3 }] },
      { op: 'complete', seq: 1, run: 1, output: null },
      { op: 'checkpoint', seq: 1, run: 1, value: sealed('3') },
      { op: 'update', id, changes: { data: sealed('4'), priority: 1 } },
      { op: 'update', id, changes: { checkpoint: sealed('5') } },
      { op: 'drain', session: 's' },
    ])
    expect(jobs).toEqual([{ name: 'a', data: '1', priority: 3 }])
  })

  test('reject where that fails, and are not sent', async () => {
    const before = sent.length
    await expect(calls.call<'checkpoint'>({ op: 'checkpoint', seq: 1, run: 1, value: 'x'.repeat(1_000) })).rejects.toBeInstanceOf(
      CodecError,
    )
    expect(sent.length).toBe(before)
  })
})

describe('durable calls', () => {
  let salt = 0
  // Other bytes each time, as encryption makes them.
  const salted = new PayloadCodec(
    { encode: (bytes) => new Uint8Array([salt++, ...flip(bytes)]), decode: (bytes) => flip(bytes.subarray(1)) },
    1_000,
  )
  const step: CommandOf<'step'> = {
    ...{ op: 'step', seq: 1, run: 1, number: 1, asked: 1, name: 's', kind: 'step', startedAt: 5 },
    value: '"one"',
  }
  const answered = <Op extends Operation>(reply: ReplyOf[Op]) => {
    const sent: CommandOf<Operation>[] = []
    const call = (command: CommandOf<Operation>) => {
      sent.push(command)
      return Promise.resolve(reply as never)
    }
    return { sent, calls: salted.around({ call: call as never }) }
  }

  test('a result is encoded once, however often it is sent', async () => {
    const { sent, calls } = answered<'step'>(true)
    for (let times = 0; times < 2; times++) await calls.call<'step'>(step)
    await calls.call<'step'>({ ...step, value: null, error: { name: 'E', message: 'm' } })
    const [first, again, failed] = sent as CommandOf<'step'>[]
    expect(again).toBe(first)
    expect(salted.decode('step', first?.value ?? null)).toBe('"one"')
    expect(first?.value).toBeInstanceOf(Uint8Array)
    expect(failed).toMatchObject({ value: null, error: { name: 'E' } })
    expect(step.value).toBe('"one"')
  })

  test('recorded results are decoded, those of a wait too', async () => {
    const result = { number: 1, asked: 1, name: 's', kind: 'step', run: 1, startedAt: 5, endedAt: 6 } as const
    const stored = [
      { ...result, value: salted.encode('step', '"one"') },
      { ...result, value: null },
    ]
    const plain = [
      { ...result, value: '"one"' },
      { ...result, value: null },
    ]
    const page = { results: stored, next: 7, generation: 2, waits: [] }
    expect(await answered<'recorded'>(page).calls.call<'recorded'>({ op: 'recorded', seq: 1, run: 1, after: 0 })).toEqual({
      ...page,
      results: plain,
    })
    const wait: CommandOf<'wait'> = { op: 'wait', seq: 1, run: 1, settled: 0, waits: [], end: false }
    expect(await answered<'wait'>({ results: stored, ended: false, next: 9 }).calls.call<'wait'>(wait)).toEqual({
      results: plain,
      ended: false,
      next: 9,
    })
  })

  test('what cannot be decoded rejects', async () => {
    const results = [{ ...step, endedAt: 6, value: new Uint8Array([0, 1]) }]
    const { calls } = answered<'recorded'>({ results, next: null, generation: 0, waits: [] })
    await expect(calls.call<'recorded'>({ op: 'recorded', seq: 1, run: 1, after: 0 })).rejects.toBeInstanceOf(CodecError)
  })
})
