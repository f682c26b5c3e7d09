// The tables of docs/reference are what the code says. After a change: `vitest run --project rules test/rules/reference.test.ts -u` writes them anew.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exitCodeOf } from '../../apps/millrace/src/exit.ts'
import { ERROR_CODES, type ErrorCode, errorFrom } from '../../packages/core/src/refusal.ts'
import { STATUS } from '../../packages/http/src/errors.ts'
import { type Interface, interfacesOf } from './interfaces.ts'
import { ROOT, SOURCES } from './sources.ts'

const FOLDER = join(ROOT, 'docs/reference')
const BLOCK = /<!-- table: (\w+) -->\n[\s\S]*?<!-- end -->/g
const pages = readdirSync(FOLDER).map((name) => ({ name, path: join(FOLDER, name), text: readFileSync(join(FOLDER, name), 'utf8') }))

const SHOWN = ['core', 'client', 'worker', 'engine', 'remote']
const sources = SOURCES.filter(({ kind, testing, package: name }) => kind === 'packages' && !testing && SHOWN.includes(name))
/** One that extends another of its name is told with it. */
const interfaces = new Map<string, Pick<Interface, 'members'>>()
for (const { name, members } of sources.flatMap(interfacesOf))
  interfaces.set(name, { members: [...(interfaces.get(name)?.members ?? []), ...members] })

/** On one line, as a cell of a table. */
const cell = (text: string) => text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim()
const row = (...cells: readonly string[]) => `| ${cells.join(' | ')} |`

function tableOf({ members }: Pick<Interface, 'members'>): string {
  const rows = members
    .filter(({ comment }) => !comment.startsWith('@internal'))
    .map(({ name, optional, type, comment }) => row(`\`${name}${optional ? '?' : ''}\``, `\`${cell(type)}\``, cell(comment)))
  return [row('name', 'type', ''), row('---', '---', '---'), ...rows].join('\n')
}

/** The catalogue in the order of its source: comments are the sentences, and the rest is what an error of the code says of itself. */
function errorTable(): string {
  const { text } = sources.find(({ path }) => path === 'packages/core/src/errors.ts') as { readonly text: string }
  const classes = [...text.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport class (\w+) extends define\('(\w+)'/g)]
  expect(classes.length).toBe([...text.matchAll(/extends define\(/g)].length)
  const rows = classes.map(([, comment = '', name, code]) => {
    const error = errorFrom({ code: code as ErrorCode, message: '' })
    return row(
      `\`${name}\``,
      `\`${code}\``,
      error.retryable ? 'yes' : '',
      String(STATUS[error.category]),
      String(exitCodeOf(error)),
      cell(comment.replace(/^\s*\*\s?/gm, '')),
    )
  })
  return [row('class', 'code', 'retry?', 'HTTP', 'exit', 'when'), row(...Array<string>(6).fill('---')), ...rows].join('\n')
}

const tableNamed = (name: string) => {
  const found = interfaces.get(name)
  expect(name === 'errors' || found !== undefined, `an interface ${name}`).toBe(true)
  return found === undefined ? errorTable() : tableOf(found)
}

test.for(pages)('$name: its tables are the code’s', async ({ path, text }) => {
  expect([...text.matchAll(BLOCK)].length).toBeGreaterThan(0)
  await expect(text.replace(BLOCK, (_, name: string) => `<!-- table: ${name} -->\n${tableNamed(name)}\n<!-- end -->`)).toMatchFileSnapshot(
    path,
  )
})

test('the options of the calls that everybody makes have their tables', () => {
  const there = new Set(pages.flatMap(({ text }) => [...text.matchAll(BLOCK)].map(([, name]) => name)))
  const wanted = [
    'OpenOptions',
    'DefinitionOptions',
    'RunOptions',
    'EnqueueOptions',
    'WorkOptions',
    'Context',
    'JobInfo',
    'Stats',
    'errors',
  ]
  expect(wanted.filter((name) => !there.has(name))).toEqual([])
})

// Codes of these tables that only one app has are in the tests of the app.
test.for([
  ['http.md', (error: Refused) => STATUS[error.category]],
  ['cli.md', exitCodeOf],
] as const)('%s: each code of the catalogue that a row lists has its number', ([name, numberOf]) => {
  const text = readFileSync(join(ROOT, 'docs', name), 'utf8')
  const rows = [...text.matchAll(/^\| (\d+(?:, \d+)*) \| .*`[A-Z]+(?:_[A-Z]+)*`.*$/gm)]
  expect(rows.length).toBeGreaterThan(4)
  const wrong = rows.flatMap(([line, numbers = '']) =>
    [...line.matchAll(/`([A-Z_]+)`/g)].flatMap(([, code]) => {
      if (!ERROR_CODES.includes(code as ErrorCode) || code === 'CODEC' || code === 'UNSUPPORTED') return []
      const number = String(numberOf(errorFrom({ code: code as ErrorCode, message: '' })))
      return numbers.split(', ').includes(number) ? [] : [`${code} is ${number}, not ${numbers}`]
    }),
  )
  expect(wrong).toEqual([])
})

type Refused = ReturnType<typeof errorFrom>
