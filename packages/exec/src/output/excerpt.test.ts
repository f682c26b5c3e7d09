import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Excerpt, jsonBytes } from './excerpt.ts'
import { lastLines, lastText } from './lines.ts'

const of = (share: number, chunks: readonly Uint8Array[]) => {
  const excerpt = new Excerpt(share)
  for (const chunk of chunks) excerpt.add(Buffer.from(chunk))
  return excerpt.captured()
}
const split = (bytes: Buffer, sizes: readonly number[]) => {
  const chunks: Buffer[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] as number
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })

test('a short output is its head', () => {
  expect(of(16, [Buffer.from('hello')])).toEqual({ head: 'hello', tail: '', bytes: 5, truncated: false })
  expect(of(16, [])).toEqual({ head: '', tail: '', bytes: 0, truncated: false })
})

test('head and tail are all of it until there is a gap', () => {
  expect(of(4, [Buffer.from('abcdefgh')])).toEqual({ head: 'abcd', tail: 'efgh', bytes: 8, truncated: false })
  expect(of(4, [Buffer.from('abcdefghi')])).toEqual({ head: 'abcd', tail: 'fghi', bytes: 9, truncated: true })
})

test('however a text comes in pieces, it is told the same; what is not cut off is told whole', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 8, max: 400 }), sizes, (text, share, turns) => {
      const bytes = Buffer.from(text)
      const told = of(share, split(bytes, turns))
      expect(told).toEqual(of(share, [bytes]))
      expect(told.bytes).toBe(bytes.length)
      if (!told.truncated) expect(told.head + told.tail).toBe(text)
      expect(text.startsWith(told.head)).toBe(true)
      expect(text.endsWith(told.tail)).toBe(true)
      if (jsonBytes(text) <= share) expect(told).toMatchObject({ head: text, tail: '' })
    }),
  )
})

test('any bytes: never more than its share as JSON, and well-formed', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 20 }), fc.integer({ min: 8, max: 200 }), (chunks, share) => {
      const { head, tail } = of(share, chunks)
      for (const text of [head, tail]) {
        expect(jsonBytes(text)).toBeLessThanOrEqual(share)
        expect(text.isWellFormed()).toBe(true)
      }
    }),
  )
})

test('control characters take six bytes of JSON: they are cut where their document would not fit', () => {
  const { head, tail, truncated } = of(100, [Buffer.alloc(1_000, 1)])
  expect([head.length, tail.length, truncated]).toEqual([16, 16, true])
})

test('the last text and the last lines', () => {
  const said = { head: 'a\nb\n', tail: 'c\n\nd\n', bytes: 9, truncated: false }
  expect(lastText(said, 100)).toBe('a\nb\nc\n\nd')
  expect(lastText(said, 3)).toBe('…\nd')
  expect(lastText({ ...said, truncated: true }, 100)).toBe('c\n\nd')
  expect(lastText({ ...said, tail: '', truncated: true }, 100)).toBe('a\nb')
  expect(lastLines(said, 3)).toEqual(['c', 'd'])
})
