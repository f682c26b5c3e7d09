import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isContainer, linesOf, pairsOf } from './lines.ts'
import { type JsonNode, parseJson } from './parse.ts'

/** The value as JSON.parse would give it. */
function plainOf(node: JsonNode): unknown {
  if (node.kind === 'string') return node.text
  if (!isContainer(node)) return JSON.parse(node.text)
  if (node.kind === 'array') return node.entries.map((entry) => plainOf(entry.node))
  return Object.fromEntries(node.entries.map(({ key, node: value }) => [key, plainOf(value)]))
}

const parsed = (text: string) => parseJson(text) as JsonNode

describe('JSON', () => {
  test('is what JSON.parse makes of it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent)
        expect(plainOf(parsed(text))).toEqual(JSON.parse(text))
      }),
    )
  })

  test('that is cut anywhere gives what is there', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.nat(), (value, at) => {
        const text = JSON.stringify(value)
        const part = text.slice(0, 1 + (at % text.length))
        expect(parseJson(part), part).toBeDefined()
      }),
    )
  })

  test.each([
    ['9007199254740993', '9007199254740993'],
    ['1e400', '1e400'],
    ['-0.10', '-0.10'],
  ])('keeps the digits of %s', (text, digits) => {
    expect(parsed(text)).toMatchObject({ kind: 'number', text: digits })
  })

  test('keeps keys that are numbers, repeated, or those of every object, in their order', () => {
    const { entries } = parsed('{"b":1,"1":2,"__proto__":3,"b":4}') as Extract<JsonNode, { readonly entries: unknown }>
    expect(entries.map(({ key }) => key)).toEqual(['b', '1', '__proto__', 'b'])
  })

  test.each([
    ['{"a":[1,{"b":"c', { kind: 'object', isCut: true }],
    ['["a\\u00', { kind: 'array', isCut: true, entries: [{ node: { text: 'a', isCut: true } }] }],
    ['["a\\', { kind: 'array', isCut: true, entries: [{ node: { text: 'a', isCut: true } }] }],
    ['["a\\\\', { kind: 'array', isCut: true, entries: [{ node: { text: 'a\\', isCut: true } }] }],
    ['[tr', { kind: 'array', isCut: true, entries: [{ node: { text: 'tr', isCut: true } }] }],
    ['{"a"', { kind: 'object', isCut: true, entries: [] }],
  ])('%s is cut', (text, node) => {
    expect(parseJson(text)).toMatchObject(node)
  })

  test.each(['', 'x', '{a:1}', '[1 2]', '{"a":1}}', "'a'", '["a\nb"]', '[1,}', 'Traceback'])('%j is none', (text) => {
    expect(parseJson(text)).toBeUndefined()
  })

  test('too deep to be drawn is none', () => {
    expect(parseJson('['.repeat(65_536))).toBeUndefined()
    expect(parseJson('['.repeat(299) + ']'.repeat(299))).toBeDefined()
  })

  test('a long string that is cut takes no longer than a whole one', () => {
    expect(parsed(`{"text":"${'y'.repeat(65_000)}`)).toMatchObject({ isCut: true, entries: [{ node: { isCut: true } }] })
  })

  test('a long string with many escapes is read', () => {
    expect(parsed(`"${'\\n'.repeat(30_000)}"`)).toMatchObject({ text: '\n'.repeat(30_000), isCut: false })
  })
})

test('lines are counted up to a bound', () => {
  expect(linesOf(parsed('{"a":{"b":1,"c":[]},"d":2}'), 100)).toBe(7)
  expect(linesOf(parsed(JSON.stringify(Array.from({ length: 10_000 }, () => 0))), 60)).toBeLessThan(100)
})

test('pairs are the first values, those near the root first', () => {
  const pairs = pairsOf(parsed('{"user":{"id":1,"email":"[redacted]"},"tenant":"acme","none":{}}'), 4)
  expect(pairs).toEqual([
    { name: 'tenant', value: 'acme', isRedacted: false },
    { name: 'none', value: '{}', isRedacted: false },
    { name: 'user.id', value: '1', isRedacted: false },
    { name: 'user.email', value: '[redacted]', isRedacted: true },
  ])
  expect(pairsOf(parsed('"text"'), 3)).toEqual([{ name: '', value: 'text', isRedacted: false }])
})
