import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jobsLink } from '../../router/links.ts'
import { jobOf, statsOf } from '../../testing/inputs.ts'
import { FIELDS, parseQuery, type Query, withTerm, writeQuery } from './query.ts'
import { lastWordOf, suggestionsOf, withLastWord } from './suggest.ts'
import { JOBS_TEXT } from './text.ts'

describe('a query', () => {
  test.each([
    ['', {}, ''],
    ['queue:billing card 4242', { queue: 'billing' }, 'card 4242'],
    ['tag:"big one" name:charge', { tag: 'big one', name: 'charge' }, ''],
    ['tag:"a \\"b\\" \\\\c"', { tag: 'a "b" \\c' }, ''],
    ['queue:a queue:b', { queue: 'b' }, ''],
    ['queue:', {}, 'queue:'],
    ['"queue:a"', {}, 'queue:a'],
    ['nothing:here http://a', {}, 'nothing:here http://a'],
    ['"order":"o-47"', {}, '"order":"o-47"'],
    ['"two words"', {}, 'two words'],
    ['"open', {}, '"open'],
  ] as const)('%s', (line, terms, text) => {
    expect(parseQuery(line)).toMatchObject({ terms, text })
  })

  test('a state leads to a tab, and an id to a job', () => {
    expect(parseQuery('state:failed id:x').leading).toEqual({ state: 'failed', id: 'x' })
  })

  test('is read as it was written, whatever its values are', () => {
    const value = fc.oneof(
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.constantFrom('queue:a', '"', '\\', 'a "b', ' ', 'id:1 x', '-tag:x', 'NOT x', 'tenant=7'),
    )
    const terms = fc.dictionary(fc.constantFrom(...FIELDS), value) as fc.Arbitrary<Query['terms']>
    fc.assert(
      fc.property(terms, fc.oneof(value, fc.constant('')), (given, text) => {
        expect(parseQuery(writeQuery({ terms: given, text, faults: [] }))).toEqual({ terms: { ...given }, text, leading: {}, faults: [] })
      }),
    )
  })

  test.each([
    ['-tag:tenant:acme', '-tag:tenant:acme', undefined],
    ['!queue:mail', '!queue:mail', undefined],
    ['a NOT b', 'NOT', undefined],
    ['a OR b', 'OR', undefined],
    ['tenant=acme', 'tenant=acme', undefined],
    ['took:>5s', 'took:>5s', undefined],
    ['attempt>1', 'attempt>1', undefined],
    ['tagg:x', 'tagg:x', 'tag'],
    ['qeue:mail', 'qeue:mail', 'queue'],
    ['Queue:mail', 'Queue:mail', 'queue'],
    ['name=charge', 'name=charge', 'name'],
    ['-nmae:charge', '-nmae:charge', 'name'],
    ['queue:', 'queue:', 'queue'],
    ['state:faild', 'state:faild', 'state'],
  ])('%s: what looks like syntax is said, and stays said once it is applied', (line, word, meant) => {
    const query = parseQuery(line)
    expect(query).toMatchObject({ terms: {}, text: line, leading: {}, faults: [{ word, ...(meant && { meant }) }] })
    expect(parseQuery(writeQuery(query))).toEqual(query)
    expect(parseQuery(`"${line}"`)).toMatchObject({ text: line, faults: [] })
    expect(parseQuery(writeQuery(parseQuery(`"${line}"`)))).toMatchObject({ text: line, faults: [] })
  })

  test.each([
    'customer:8',
    'http://a',
    'urn:x',
    '-5',
    'card 4242',
    'not',
    '2025-11-23',
    'a-b:c',
    '"order":"o-47"',
    'ec81-173682',
    'a@b.example',
  ])('%s is a text like any other', (line) => expect(parseQuery(line)).toMatchObject({ text: line, faults: [] }))

  test('what is wrong with a word says what to do', () => {
    const { fault } = JOBS_TEXT
    expect(fault('queue:', 'queue')).toBe('queue: needs a value')
    expect(fault('tagg:x', 'tag')).toBe('No term, but text: tagg:x. Did you mean tag:?')
    expect(fault('-tag:x', undefined)).toBe('No term, but text: -tag:x')
  })

  test('has what links to jobs give', () => {
    const link = jobsLink({ queue: 'a b', name: 'charge', text: 'acme' })
    const line = new URLSearchParams(link.split('?')[1]).get('q') ?? ''
    expect(parseQuery(line)).toMatchObject({ terms: { queue: 'a b', name: 'charge' }, text: 'acme' })
  })

  test('gets and loses a term', () => {
    const query = parseQuery('queue:a x')
    expect(withTerm(query, 'queue', undefined)).toMatchObject({ terms: {}, text: 'x' })
    expect(withTerm(query, 'tag', 't').terms).toEqual({ queue: 'a', tag: 't' })
  })
})

describe('suggestions', () => {
  const stats = statsOf({ queues: { mail: {}, media: {}, billing: {} } as never })
  const known = { stats, jobs: [jobOf({ queue: 'late', tags: ['big one', 'eu'] })] }
  const words = (word: string) => suggestionsOf(word, known).map((each) => each.word)

  test('are fields that begin so', () => {
    expect(words('qu')).toEqual(['queue:'])
    expect(words('')).toEqual([])
  })

  test('are values that are known, those that begin so first', () => {
    expect(words('queue:m')).toEqual(['queue:mail', 'queue:media'])
    expect(words('queue:')).toEqual(['queue:billing', 'queue:late', 'queue:mail', 'queue:media'])
    expect(words('queue:l')).toEqual(['queue:late', 'queue:billing', 'queue:mail'])
    expect(words('tag:"big')).toEqual(['tag:"big one"'])
    expect(words('state:f')).toEqual(['state:failed'])
    expect(words('other:x')).toEqual([])
  })

  test('replace the last word', () => {
    expect(lastWordOf('a "b c')).toBe('"b c')
    expect(lastWordOf('a ')).toBe('')
    expect(lastWordOf('tag:"b c" d')).toBe('d')
    expect(lastWordOf('tag:"b \\" c')).toBe('tag:"b \\" c')
    expect(withLastWord('card que', 'queue:')).toBe('card queue:')
  })
})
