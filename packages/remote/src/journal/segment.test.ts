import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../testkit/src/testing/runs.ts'
import { decodeHeader, encodeHeader, encodeRecord, HEAD_BYTES, recordAt } from './segment.ts'

const header = fc.record({
  uuid: fc.uuid(),
  number: fc.integer({ min: 1, max: 2 ** 26 - 1 }),
  first: fc.integer({ min: 1, max: 2 ** 27 - 1 }),
})
/** As what is written is: it begins with the kind of its first value, which is no zero. */
const payload = fc
  .tuple(fc.integer({ min: 1, max: 255 }), fc.uint8Array({ maxLength: 200 }))
  .map(([kind, rest]) => Uint8Array.from([kind, ...rest]))
const payloads = fc.array(payload, { minLength: 1, maxLength: 5 })

const joined = (some: readonly Uint8Array[]) => Buffer.concat(some.map(encodeRecord))

/** All that is whole, and how it ends. */
function readAll(bytes: Buffer) {
  const found: Uint8Array[] = []
  for (let offset = 0; ; ) {
    const record = recordAt(bytes, offset)
    if (typeof record === 'string') return { found, end: record }
    found.push(Uint8Array.from(record.payload))
    offset = record.next
  }
}

describe('the header', () => {
  test('is read as it was written', () => {
    fc.assert(fc.property(header, (written) => void expect(decodeHeader(encodeHeader(written))).toEqual(written)))
  })

  test('is none where a byte is missing or another', () => {
    fc.assert(
      fc.property(header, fc.nat(31), fc.integer({ min: 1, max: 255 }), (written, at, flip) => {
        const bytes = encodeHeader(written)
        expect(decodeHeader(bytes.subarray(0, at))).toBeUndefined()
        bytes.writeUInt8(bytes.readUInt8(at) ^ flip, at)
        expect(decodeHeader(bytes)).toBeUndefined()
      }),
    )
  })
})

describe('records', () => {
  test('are read as they were written', () => {
    fc.assert(fc.property(payloads, (written) => void expect(readAll(joined(written))).toEqual({ found: written, end: 'end' })))
  })

  test('the last one cut anywhere is torn, and those before are whole, also where zeros stand for what was never written', () => {
    fc.assert(
      fc.property(payloads, payload, fc.nat(), fc.nat(5_000), (before, last, cut, zeros) => {
        const record = encodeRecord(last)
        // Zeros at its end may be what was written.
        const unlike = record.findLastIndex((byte) => byte !== 0)
        const whole = record.subarray(0, 1 + (cut % unlike))
        expect(readAll(Buffer.concat([joined(before), whole]))).toEqual({ found: before, end: 'torn' })
        const filled = Buffer.concat([joined(before), whole.subarray(0, -1), Buffer.alloc(1 + zeros)])
        expect(readAll(filled)).toEqual({ found: before, end: 'torn' })
      }),
      { numRuns: runs(500) },
    )
  })

  test('the last one some of whose blocks were never written is torn, wherever its head lies', () => {
    const last = fc.uint8Array({ minLength: 600, maxLength: 2_000 })
    fc.assert(
      fc.property(payloads, fc.integer({ min: 489, max: 511 }), last, fc.nat(15), (before, offset, bytes, unwritten) => {
        // The borders of blocks are all around its head.
        const front = joined(before)
        const filler = encodeRecord(new Uint8Array((offset - HEAD_BYTES - (front.length % 512) + 1_024) % 512).fill(1))
        const written = Buffer.concat([front, filler, encodeRecord(bytes)])
        const begin = front.length + filler.length
        const image = Buffer.from(written)
        for (let at = begin; at < image.length; at++) if ((unwritten >> (Math.floor(at / 512) % 4)) & 1) image[at] = 0
        fc.pre(!image.equals(written))
        expect(readAll(image)).toMatchObject({ found: { length: before.length + 1 }, end: 'torn' })
      }),
      { numRuns: runs(1_000) },
    )
  })

  test('zeros behind the last one are torn', () => {
    fc.assert(
      fc.property(payloads, fc.integer({ min: 1, max: 5_000 }), (written, zeros) => {
        expect(readAll(Buffer.concat([joined(written), Buffer.alloc(zeros)]))).toEqual({ found: written, end: 'torn' })
      }),
    )
  })

  test('any other byte in one that another follows is damage', () => {
    fc.assert(
      fc.property(payloads, payload, payloads, fc.nat(), fc.integer({ min: 1, max: 255 }), (before, hit, after, place, flip) => {
        const [head, record] = [joined(before), encodeRecord(hit)]
        const at = place % record.length
        record.writeUInt8(record.readUInt8(at) ^ flip, at)
        expect(readAll(Buffer.concat([head, record, joined(after)]))).toEqual({ found: before, end: 'damaged' })
      }),
      { numRuns: runs(500) },
    )
  })

  test('one that was zeroed and that another follows is damage', () => {
    fc.assert(
      fc.property(payloads, payload, payloads, fc.boolean(), (before, hit, after, whole) => {
        const record = encodeRecord(hit)
        record.fill(0, 0, whole ? record.length : HEAD_BYTES)
        expect(readAll(Buffer.concat([joined(before), record, joined(after)]))).toEqual({ found: before, end: 'damaged' })
      }),
    )
  })
})
