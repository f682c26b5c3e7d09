import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FrameReader, HEADER_BYTES } from './frames.ts'

const header = (length: number): Uint8Array => new Uint8Array([length >>> 24, length >>> 16, length >>> 8, length])
const frame = (payload: Uint8Array): Uint8Array => new Uint8Array([...header(payload.length), ...payload])
const codeOf = (call: () => unknown): unknown => {
  try {
    call()
  } catch (error) {
    return (error as { code: unknown }).code
  }
  return undefined
}

test('frames come out whole, however their bytes are cut', () => {
  const payload = fc.uint8Array({ minLength: 1, maxLength: 70 })
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 6 }), fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (payloads, cuts) => {
      const bytes = new Uint8Array(payloads.flatMap((each) => [...frame(each)]))
      const reader = new FrameReader({ frameBytes: 70 })
      const read: Uint8Array[] = []
      for (let at = 0, cut = 0; at < bytes.length; cut++) {
        const next = at + (cuts[cut % cuts.length] as number)
        // Copies: payloads may be views of a chunk, and chunks are buffers of a socket that may be used again.
        for (const each of reader.push(bytes.slice(at, next))) read.push(each.slice())
        at = next
      }
      expect(read).toEqual(payloads)
      expect(reader.partial).toBe(false)
    }),
  )
})

test('byte by byte', () => {
  const reader = new FrameReader({ frameBytes: 10 })
  const bytes = frame(new Uint8Array([1, 2, 3]))
  const partial: boolean[] = []
  const read = [...bytes].flatMap((byte) => {
    const payloads = reader.push(new Uint8Array([byte]))
    partial.push(reader.partial)
    return payloads
  })
  expect(read).toEqual([new Uint8Array([1, 2, 3])])
  expect(partial).toEqual([true, true, true, true, true, true, false])
})

test('no bytes are no chunk', () => {
  const reader = new FrameReader({ frameBytes: 10 })
  expect(reader.push(new Uint8Array(0))).toEqual([])
  expect(reader.partial).toBe(false)
})

describe('a length that is refused', () => {
  test('one byte more than is allowed, before any of them has come', () => {
    const reader = new FrameReader({ frameBytes: 100 })
    expect(reader.push(frame(new Uint8Array(100)))).toHaveLength(1)
    expect(codeOf(() => reader.push(header(101)))).toBe('FRAME_TOO_LARGE')
  })

  test('as soon as its four bytes are there', () => {
    const reader = new FrameReader({ frameBytes: 2 ** 20 })
    for (const byte of [255, 255, 255]) reader.push(new Uint8Array([byte]))
    expect(codeOf(() => reader.push(new Uint8Array([255])))).toBe('FRAME_TOO_LARGE')
  })

  test('another protocol: its first letters are a great length', () => {
    const reader = new FrameReader({ frameBytes: 17 * 2 ** 20 })
    expect(codeOf(() => reader.push(new TextEncoder().encode('GET / HTTP/1.1\r\n')))).toBe('FRAME_TOO_LARGE')
  })

  test('none at all', () => {
    expect(codeOf(() => new FrameReader({ frameBytes: 10 }).push(header(0)))).toBe('BAD_FRAME')
  })
})

test('the limit may be raised between two frames, also of one chunk', () => {
  const reader = new FrameReader({ frameBytes: 4 })
  expect(reader.push(frame(new Uint8Array(4)))).toHaveLength(1)
  reader.frameBytes = 8
  expect(reader.push(frame(new Uint8Array(8)))).toHaveLength(1)
})

test('what is announced costs nothing until it comes', () => {
  const before = process.memoryUsage().arrayBuffers
  const readers = Array.from({ length: 100 }, () => {
    const reader = new FrameReader({ frameBytes: 2 ** 30 })
    reader.push(header(2 ** 30))
    reader.push(new Uint8Array(10))
    return reader
  })
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 20)
  expect(readers.every((reader) => reader.partial)).toBe(true)
})

test('a large frame in small pieces is no heap of pieces', () => {
  const size = 4 * 2 ** 20
  const reader = new FrameReader({ frameBytes: size })
  reader.push(header(size))
  const before = process.memoryUsage()
  const piece = new Uint8Array(16)
  let early = 0
  for (let sent = piece.length; sent < size; sent += piece.length) early += reader.push(piece).length
  expect(early).toBe(0)
  const after = process.memoryUsage()
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(4 * size)
  expect(reader.push(piece)[0]).toHaveLength(size)
  expect(HEADER_BYTES).toBe(4)
})
