import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { runs } from '../../../testkit/src/testing/runs.ts'
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

test('head and tail have all that fits: another character would be too much', () => {
  const character = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom('"', '\\', '\n', '\0', '\x7f', '😀'),
  )
  fc.assert(
    fc.property(fc.array(character, { maxLength: 200 }), fc.integer({ min: 8, max: 100 }), (characters, share) => {
      const text = characters.join('').toWellFormed()
      const { head, tail, truncated } = of(share, [Buffer.from(text)])
      const [next = ''] = text.slice(head.length)
      if (next !== '') expect(jsonBytes(head + next)).toBeGreaterThan(share)
      // The ring has so many bytes of the text, of which JSON may have more.
      const [before] = [...text].slice(0, [...text].length - [...tail].length).slice(-1)
      if (truncated && before !== undefined && Buffer.byteLength(before + tail) <= share)
        expect(jsonBytes(before + tail)).toBeGreaterThan(share)
    }),
    { numRuns: runs(500) },
  )
})

test('an output is cut without its JSON having been made, which takes a second where it is long', () => {
  const stringify = vi.spyOn(JSON, 'stringify')
  try {
    expect(of(1_000, [Buffer.alloc(10_000, '"')])).toMatchObject({ bytes: 10_000, truncated: true })
    expect(stringify).not.toHaveBeenCalled()
  } finally {
    stringify.mockRestore()
  }
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
