// 5.4: data reaches arguments, stdin and variables, and nothing else: to the byte, or not at all.
import { spawnSync } from 'node:child_process'
import { NonRetryableError } from '@millrace/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../testkit/src/testing/runs.ts'
import { BadArgsError } from '../errors.ts'
import { preparationOf } from '../process/launch.ts'
import { fillTemplate, parseTemplate } from './template.ts'
import { dataVariables } from './variables.ts'

/** As every command is started. */
const prepared = preparationOf('077')

const fill = (args: readonly unknown[], data: unknown) => fillTemplate(parseTemplate('args', args), data)

/** What a shell, an option parser or a C string may trip over. */
const HOSTILE = [
  '; rm -rf /',
  '$(touch pwned)',
  '`touch pwned`',
  '$IFS',
  'a\nb',
  '\r\n',
  "'",
  '"',
  '\\',
  '*',
  '~',
  '%s%n',
  '{{other}}',
  '{{path}}',
  '!!',
  '',
  ' ',
  '\u2028',
  '\u0001',
  '\u007f',
  'é😀',
  '--',
  '=',
  '#',
  '&&',
  '|',
]
const hostile = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.array(fc.constantFrom(...HOSTILE), { maxLength: 4 }).map((parts) => parts.join('')),
)
const expressible = hostile.filter((text) => !text.includes('\0') && text.isWellFormed())

/** What refuses: a NonRetryableError with a BadArgsError behind it. */
function refused(act: () => unknown): BadArgsError {
  try {
    act()
  } catch (error) {
    expect(error).toBeInstanceOf(NonRetryableError)
    expect((error as Error).message).toMatch(/^BAD_ARGS: /)
    const { cause } = error as Error
    expect(cause).toBeInstanceOf(BadArgsError)
    expect(cause).toMatchObject({ code: 'BAD_ARGS', retryable: false })
    return cause as BadArgsError
  }
  throw new Error('it was taken')
}

describe('arguments', () => {
  test('5.4: what a real process receives is exactly the data, in its own argument', () => {
    const tell = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))'
    const template = ['-e', { literal: tell }, '--', '{{a}}', '--size={{b}}', 'x{{a}}y{{b}}z']
    fc.assert(
      fc.property(expressible, expressible, (a, b) => {
        const { file, args } = prepared({ file: process.execPath, args: fill(template, { a, b }) })
        const { stdout, status } = spawnSync(file, args, { encoding: 'utf8', env: {} })
        expect([status, JSON.parse(stdout)]).toEqual([0, [a, `--size=${b}`, `x${a}y${b}z`]])
      }),
      { numRuns: runs(40) },
    )
  })

  test('5.4: and so it is in the positional arguments and the variables of a script', () => {
    const text = 'printf "%s\\n--\\n%s" "$1" "$JOB_DATA_A"'
    fc.assert(
      fc.property(
        expressible.filter((value) => !value.startsWith('-')),
        (a) => {
          const args = ['-c', text, 'name', ...fill(['{{a}}'], { a })]
          const launch = prepared({ file: '/bin/sh', args })
          const { stdout } = spawnSync(launch.file, launch.args, { encoding: 'utf8', env: dataVariables({ a }) })
          expect(stdout).toBe(`${a}\n--\n${a}`)
        },
      ),
      { numRuns: runs(40) },
    )
  })

  test('a field is filled once: what it brings is no template', () => {
    expect(fill(['x{{a}}{{b}}'], { a: '{{b}}', b: '1' })).toEqual(['x{{b}}1'])
  })

  test('numbers and booleans as JSON writes them', () => {
    expect(fill(['n={{n}}', 'b={{b}}', 'e={{ e }}'], { n: -1.5, b: false, e: '' })).toEqual(['n=-1.5', 'b=false', 'e='])
  })

  test.for([
    [{}, 'missing'],
    [{ a: null }, 'got null'],
    [{ a: {} }, 'got an object'],
    [{ a: ['x'] }, 'got an array'],
    [undefined, 'no object but undefined'],
    ['text', 'no object but "text"'],
    [['a'], 'no object but an array'],
    [new Uint8Array(3), 'no object'],
    [JSON.parse('{"__proto__":{"a":"x"}}'), 'missing'],
    [{ a: 'x\0y' }, 'NUL'],
    [{ a: 'x\ud800' }, 'surrogate'],
    [{ a: 'x'.repeat(131_072) }, '131071 bytes'],
    [{ a: 'é'.repeat(65_536) }, '131071 bytes'],
  ] as const)('refused, by name: %j', ([data, reason]) => {
    expect(refused(() => fill(['--x={{a}}'], data))).toMatchObject({ field: 'a', message: expect.stringContaining(reason) })
  })

  test('what JavaScript gives every object is no field', () => {
    expect(refused(() => fill(['{{constructor}}'], {})).message).toContain("'constructor' is missing")
  })

  test("5.4: what would be an option is refused, but for behind a literal '--'", () => {
    for (const data of [{ a: '-rf' }, { a: '--' }, { a: '-' }, { a: -5 }]) {
      expect(refused(() => fill(['{{a}}'], data))).toMatchObject({ field: 'a', message: expect.stringContaining("a literal '--'") })
      expect(refused(() => fill(['{{a}}.png'], data)).field).toBe('a')
      expect(fill(['--', '{{a}}'], data)).toEqual(['--', String(data.a)])
      expect(fill(['--name={{a}}'], data)).toEqual([`--name=${data.a}`])
    }
    // An empty field uncovers what follows it.
    expect(refused(() => fill(['{{a}}{{b}}'], { a: '', b: '-x' })).field).toBe('a')
    // Data that says '--' ends no options.
    expect(refused(() => fill(['x', '{{a}}', '{{b}}'], { a: '--', b: '-x' })).field).toBe('a')
  })

  test('the largest argument that is taken starts', () => {
    const a = 'x'.repeat(131_071)
    const { file, args } = prepared({ file: '/bin/echo', args: fill(['{{a}}'], { a }) })
    expect(spawnSync(file, args, { encoding: 'utf8', maxBuffer: 2 ** 20 }).stdout).toBe(`${a}\n`)
  })
})

describe('variables', () => {
  test.for([
    [{ a: 'x\0y' }, 'NUL'],
    [{ a: '\udc00' }, 'surrogate'],
    [{ a: 'x'.repeat(131_072) }, 'variables: false'],
  ] as const)('refused: %j', ([data, reason]) => {
    expect(refused(() => dataVariables(data))).toMatchObject({ field: 'a', message: expect.stringContaining(reason) })
  })

  test('two keys of one variable', () => {
    expect(refused(() => dataVariables({ a: 1, A: 2 })).message).toContain('JOB_DATA_A')
  })

  test('keys of letters, digits and _ alone', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.integer()), (data) => {
        let names: string[]
        try {
          names = Object.keys(dataVariables(data))
        } catch (error) {
          expect((error as Error).cause).toBeInstanceOf(BadArgsError)
          return
        }
        for (const name of names) expect(name).toMatch(/^JOB_DATA_[A-Z][A-Z0-9_]{0,63}$/)
      }),
    )
  })

  test('data that is no object tells none', () => {
    for (const data of [undefined, null, 'x', 1, ['a'], new Uint8Array(2)]) expect(dataVariables(data)).toEqual({})
  })
})
