// The planter of `pnpm mutants`: what it changes, that what it writes still runs, and what its score says.

import { describe, expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { ROOT } from '../rules/sources.ts'
import { AREAS, areaOf, parseAreas } from './areas.ts'
import equivalents from './equivalents.json' with { type: 'json' }
import listed from './listed.json' with { type: 'json' }
import { type Mutant, mutated, parse, plant } from './plant.ts'
import { parsePython } from './python.ts'
import { keyOf, type Result, stale, table, wilson } from './score.ts'

const FILE = 'packages/core/src/kernel/example.ts'
const changes = (source: string, file = FILE) => parse(file, source).mutants.map(({ operator, after }) => `${operator}: ${after}`)

/** What `f` answers with each mutant in turn on; an error's name for those that throw. */
function answers(source: string, argument: unknown): unknown[] {
  const parsed = parse(FILE, source)
  const planted = plant(parsed, (index) => index, './mutant.ts').replace(/^import [^;]*;/, '')
  const f = new Function('__mutant', `${planted}; return f`)
  return [-1, ...parsed.mutants.keys()].map((on) => {
    try {
      return f((id: number) => id === on)(argument)
    } catch (error) {
      return (error as Error).name
    }
  })
}

describe('what is changed', () => {
  test('conditions, comparisons and early returns', () => {
    expect(changes('function f(a) {\n  if (a < 5) return 7\n  return 9\n}')).toEqual([
      'condition: if (true) return 7',
      'condition: if (false) return 7',
      'comparison: if (a <= 5) return 7',
      'comparison: if (a >= 5) return 7',
      'removal: if (a < 5)',
    ])
  })

  test('operators, with the brackets around them', () => {
    expect(changes('const x = (a && b) || c')).toEqual(['logical: const x = (a && b) && c', 'logical: const x = (a || b) || c'])
    expect(changes('const x = a && b && c')).toEqual(['logical: const x = a && b || c', 'logical: const x = (a || b) && c'])
    expect(changes('const x = (a + b) * c')).toEqual(['arithmetic: const x = (a + b) / c', 'arithmetic: const x = (a - b) * c'])
    expect(changes('const x = (a ?? b).some(c)')).toEqual([
      'method: const x = (a ?? b).every(c)',
      'nullish: const x = (a).some(c)',
      'nullish: const x = (b).some(c)',
    ])
  })

  test('calls and assignments that stand alone, numbers, and each ?. of a chain', () => {
    expect(changes('before()\ngo(1)\nafter()').slice(1, 3)).toEqual(['removal: before() after()', 'number: go(0)'])
    expect(changes('const x = a?.b.c?.[d]')).toEqual(['optional: const x = a?.b.c[d]', 'optional: const x = a.b.c?.[d]'])
    expect(changes('class A { n = 2\n  f() { this.n++ } }')).toEqual(['update: f() { this.n-- } }'])
  })

  test('statements of SQL in the storage alone, and what is a condition in them', () => {
    const source = "db.prepare('UPDATE job SET a = ? WHERE b = ? AND c BETWEEN ? AND ?')"
    expect(changes(source).length).toBe(1)
    expect(changes(source, 'packages/sqlite/src/write/example.ts').slice(1)).toEqual([
      "sql: db.prepare('UPDATE job SET a = ? WHERE b <> ? AND c BETWEEN ? AND ?')",
      "sql: db.prepare('UPDATE job SET a = ? WHERE b = ? OR c BETWEEN ? AND ?')",
    ])
  })

  test('nothing in types, in errors and in what is logged', () => {
    expect(changes('type A = 0 | 1\nconst x = make<0>() as 1')).toEqual([])
    expect(changes('function f(a) { throw new RangeError(String(a - 1)) }').length).toBe(1)
    expect(changes('const x = log.warn(a ?? 1)')).toEqual([])
  })
})

describe('what is planted', () => {
  test('answers as before while no mutant is on, and otherwise with the change', () => {
    const source = `function f(all) {
  let sum = 0
  for (const one of all) {
    if (one > 2) continue
    sum += one
  }
  return sum
}`
    // Nothing; let sum = 1; true, false, >=, <=; no continue; no sum, sum -=.
    expect(answers(source, [1, 2, 3])).toEqual([3, 4, 0, 6, 1, 3, 6, 0, -3])
  })

  test('does not join lines that end without a semicolon, whichever mutants are planted', () => {
    const parsed = parse(FILE, 'const b = a\nb.list.push(c)\nif (d) b.list.pop()\nb.n ??= 1')
    for (const only of parsed.mutants.keys()) {
      const planted = plant(parsed, (index) => (index === only ? index : undefined), './mutant.ts')
      // The import, and the four statements.
      expect(parseAst(planted, { lang: 'ts' }).body.filter(({ type }) => type !== 'EmptyStatement').length).toBe(5)
    }
  })

  test('an optional chain skips as a whole', () => {
    expect(answers('function f(a) { return a?.b.filter((x) => x > 0).length }', undefined)[0]).toBe(undefined)
  })

  test('every source of the areas can be read with all of its mutants', () => {
    const files = parseAreas(ROOT, [])
    expect(files.length).toBeGreaterThan(100)
    for (const parsed of files) {
      const planted = plant(parsed, (index) => index, './mutant.ts')
      expect(() => parseAst(planted, { lang: 'ts' }, parsed.file), parsed.file).not.toThrow()
    }
  })

  test('a file without a planted mutant is as it was', () => {
    expect(plant(parse(FILE, 'go()'), () => undefined, './mutant.ts')).toBe('go()')
  })
})

describe('the score', () => {
  const mutant: Mutant = { file: FILE, line: 1, operator: 'removal', before: 'go()', after: '' }
  const result = (verdict: Result['verdict'], before = 'go()'): Result => ({ ...mutant, before, verdict, by: '', seconds: 0 })

  test('leaves out those that are known as equivalent, and counts a timeout as seen', () => {
    const results = [result('unit'), result('timeout'), result('survived'), result('survived', 'same()')]
    const lines = table(results, [{ file: FILE, before: 'same()', after: '', why: 'for the test' }])
    expect(lines.at(-1)).toBe('| all | 4 | 1 | 0 | 0 | 1 | 1 | 1 | 66.7 % (20.8 to 93.9) |')
  })

  test('names equivalents that fit nothing any more', () => {
    const known = { file: FILE, before: 'go()', after: '', why: 'for the test' }
    expect(stale([known, { ...known, before: 'gone()' }], [mutant])).toEqual([{ ...known, before: 'gone()' }])
  })

  test('has the confidence of its size', () => {
    expect(wilson(90, 100).map((share) => share.toFixed(3))).toEqual(['0.826', '0.945'])
    expect(wilson(900, 1_000).map((share) => share.toFixed(3))).toEqual(['0.880', '0.917'])
  })
})

test('every listed mutant is one mutant of the sources, five of each area', () => {
  const files = listed.map(({ file }) => file)
  const all = parseAreas(ROOT, files, AREAS).flatMap(({ mutants }) => mutants.map(keyOf))
  for (const one of listed) expect(all.filter((key) => key === keyOf(one)).length, `${one.file}: ${one.before} => ${one.after}`).toBe(1)
  expect(AREAS.map(({ name }) => [name, listed.filter(({ file }) => areaOf(file).name === name).length])).toEqual(
    AREAS.map(({ name }) => [name, 5]),
  )
})

test('Python: comparisons, words and calls of a line, but no texts and no declarations', () => {
  const source = 'def f(a):\n    """Says a == b."""\n    if a == 1 and not a.b:\n        self.go(a)\n        raise ValueError("a == 2")\n'
  const parsed = parsePython('clients/python/millrace/example.py', source)
  expect(parsed.mutants.map(({ operator, line, after }) => `${line} ${operator}: ${after}`)).toEqual([
    '3 comparison: if a != 1 and not a.b:',
    '3 logical: if a == 1 or not a.b:',
    '4 removal: pass',
  ])
  expect(mutated(parsed, 2)).toBe(source.replace('self.go(a)', 'pass'))
})

test('every equivalent of the list is one mutant of the sources, with its reason', () => {
  const files = equivalents.map(({ file }) => file)
  const all = parseAreas(ROOT, files).flatMap(({ mutants }) => mutants.map(keyOf))
  for (const one of equivalents) {
    expect(all.filter((key) => key === keyOf(one)).length, `${one.file}: ${one.before} => ${one.after}`).toBe(1)
    expect(one.why.length).toBeGreaterThan(20)
  }
})
