import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BLANK, blankedStart, type Path } from './blankedStart.ts'
import { Redaction, redactOption } from './redaction.ts'

const text = '{"user":{"email":"grace@x","name":"Ada"},"list":[{"pin":1},{"pin":[2,{"a":3}]}],"end":null}'
const shownOf = (start: string, ...paths: readonly string[]) =>
  blankedStart(
    start,
    paths.map((path) => path.split('.')),
  )
const cutAfter = (part: string) => text.slice(0, text.indexOf(part) + part.length)

describe('the beginning of JSON', () => {
  test.each<[string, string, readonly string[], string, boolean]>([
    ['a value before the cut', cutAfter('"name":"A'), ['user.email'], `{"user":{"email":"${BLANK}","name":"A`, true],
    ['a value that is cut', cutAfter('"gra'), ['user.email'], `{"user":{"email":"${BLANK}"`, true],
    ['a value that is about to begin', cutAfter('"email":'), ['user.email'], `{"user":{"email":"${BLANK}"`, true],
    ['a value beyond the cut', cutAfter('"name":"Ada"}'), ['list', 'end'], cutAfter('"name":"Ada"}'), false],
    ['a key that is cut', cutAfter('"ema'), ['user.email'], cutAfter('"ema'), false],
    [
      'items',
      cutAfter('{"a":'),
      ['list.*.pin'],
      `{"user":{"email":"grace@x","name":"Ada"},"list":[{"pin":"${BLANK}"},{"pin":"${BLANK}"`,
      true,
    ],
    ['one item', cutAfter('{"a":'), ['list.0'], `{"user":{"email":"grace@x","name":"Ada"},"list":["${BLANK}",{"pin":[2,{"a":`, true],
    ['an object within an object', cutAfter('"list'), ['user'], `{"user":"${BLANK}","list`, true],
    ['an empty list', '{"list":[],"a', ['list.*'], '{"list":[],"a', false],
    ['a key that is there twice', '{"a":1,"a":2,"b', ['a'], `{"a":"${BLANK}","a":"${BLANK}","b`, true],
    ['a key that is written otherwise', String.raw`{"\u0061":1,"b`, ['a'], String.raw`{"\u0061":"${BLANK}","b`, true],
    ['a key of the prototype', '{"__proto__":{"a":1},"b', ['__proto__.a'], `{"__proto__":{"a":"${BLANK}"},"b`, true],
    ['spaces', '{ "a" : 1 , "b', ['a'], `{ "a" : "${BLANK}" , "b`, true],
    ['a quotation mark in a value', String.raw`{"a":"\",\"b\":1","c`, ['b', 'c'], String.raw`{"a":"\",\"b\":1","c`, false],
  ])('%s', (_what, start, paths, shown, hides) => {
    expect(shownOf(start, ...paths)).toEqual({ shown, hides })
  })

  test('a payload that is hidden as a whole', () => {
    expect(blankedStart(text.slice(0, 9), [[]])).toEqual({ shown: `"${BLANK}"`, hides: true })
  })

  test.each([
    '',
    ' ',
    'no JSON',
    '{a',
    '{"a" 1',
    '{"a":1]',
    '[1}',
    '[1 2',
    '{"a":1}x',
    '{"a":1}"x',
    '[,',
    '{,',
    '{"a":tru e',
    ']',
    '{"\\q":1',
    '{"a\nb":1,"c',
  ])('%j is none', (start) => expect(shownOf(start, 'a')).toBeUndefined())

  test('as deep as it may be', () => {
    const deep = '[{"a":'.repeat(10_000)
    expect(blankedStart(deep, [Array(1).fill('*')])).toEqual({ shown: `["${BLANK}"`, hides: true })
    expect(blankedStart(deep, [['b']])).toEqual({ shown: deep, hides: false })
  })
})

test('what is shown of a beginning is the beginning of what is shown of the whole', () => {
  const key = fc.constantFrom('a', 'b', '0', '1', '__proto__', 'ü', '"', ' ')
  const paths = fc.array(
    fc.array(
      fc.oneof(
        key.filter((each) => each !== '"'),
        fc.constant('*'),
      ),
      { maxLength: 4 },
    ),
    { maxLength: 4 },
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, -1.5e-9, 12, '"', 'a\\', 'ü'),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.array(fc.tuple(key, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  }))
  fc.assert(
    fc.property(value, paths, fc.nat(), (whole, ways: readonly Path[], at) => {
      const stored = JSON.stringify(whole)
      const blanked = JSON.stringify(new Redaction(redactOption(ways.map((way) => ['data', ...way].join('.')))).blanked('data', whole))
      const start = blankedStart(stored.slice(0, 1 + (at % stored.length)), ways) ?? expect.fail('it is no JSON')
      // A value that is about to begin is blank already.
      expect(blanked.startsWith(start.shown)).toBe(true)
      const all = blankedStart(stored, ways)
      expect(all?.shown).toBe(blanked)
      expect(all?.hides).toBe(blanked !== stored || ways.some(({ length }) => length === 0))
    }),
  )
})
