// Every command line of every page: millrace has the command and its flags, and what the commands of other programs name is there.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { expect, test } from 'vitest'
import { BLOCKS, type Block, isShell, ROOT } from './blocks.ts'
import { ELSEWHERE, isElsewhere, isOf, NOT_RUN, UNRUNNABLE } from './held.ts'
import { parseMillrace } from './millrace.ts'
import { PROGRAMS } from './programs.ts'
import { commandsOf } from './script.ts'

const shell = BLOCKS.filter(isShell)

function faultsOf({ page, place, text }: Block): readonly string[] {
  let folder = dirname(page)
  return commandsOf(text).flatMap(({ words: [program = '', ...words] }) => {
    if (program === 'cd') folder = posix.normalize(words[0] as string)
    try {
      PROGRAMS[program]?.(words, { page, text, folder })
      return []
    } catch (error) {
      return [`${place}: ${[program, ...words].join(' ')}: ${(error as Error).message}`]
    }
  })
}

test('each command of a block is one that the program takes', () => {
  expect(shell.length).toBeGreaterThan(150)
  expect(shell.flatMap(faultsOf)).toEqual([])
})

test.each([
  ['enqueue mail --prority 5', /unknown option '--prority'/],
  ['enqueu mail', /unknown command 'enqueu'/],
  ['jobs lst', /unknown command 'lst'|too many arguments/],
  ['enqueue mail --delay 5', /A duration requires its unit/],
  ['schedules trigger', /missing required argument 'id'/],
  ['serve --http-prt 8080', /unknown flag '--http-prt'/],
  ['serve --http-port 99999', /port must be between 0 and 65535/],
])('a wrong line is seen: millrace %s', (line, message) => {
  expect(() => parseMillrace(line.split(' '))).toThrow(message)
})

test.each([
  ['npm install @millrace/engin', 'docs/a.md', /uses, the package @millrace\/engin/],
  ['npm run wrker', 'apps/create-millrace/templates/daemon/README.md', /no script wrker/],
  ['npm create millrace@latest a -- --template embeded', 'docs/a.md', /no template embeded/],
  ['pnpm bench:troughput', 'docs/a.md', /no script bench:troughput/],
  ['pnpm bench:throughput --fast', 'docs/a.md', /bench:throughput has no flag --fast/],
  ['node apps/examples/none/main.ts', 'docs/a.md', /no apps\/examples\/none\/main.ts/],
  ['npx -y pnpm@12 --filter @millrace/none build', 'docs/a.md', /no package @millrace\/none/],
  ['kubectl apply -k deploy/kubernetes/none', 'docs/a.md', /no deploy\/kubernetes\/none/],
  ['npm install | millrace stauts', 'docs/a.md', /unknown command 'stauts'/],
])('a wrong line is seen: %s', (text, page, message) => {
  const faults = faultsOf({ page, place: page, language: 'sh', heading: '', text })
  expect(faults).toEqual([expect.stringMatching(message)])
})

test('each entry of the tables of what is not run is needed, and names a test that is there', () => {
  for (const held of [...ELSEWHERE, ...UNRUNNABLE])
    expect(
      BLOCKS.filter((block) => isOf(held, block)).length,
      `${held.page} has no block of ${held.language}: leave the entry out`,
    ).toBeGreaterThan(0)
  // A test that has the lines of a section itself does not name the page.
  for (const { page, heading, by } of ELSEWHERE)
    expect(readFileSync(join(ROOT, by), 'utf8')).toMatch(heading === undefined ? posix.basename(page) : /completion/)
  const lines = shell.filter((block) => !isElsewhere(block)).flatMap(({ text }) => commandsOf(text).map(({ words }) => words.join(' ')))
  expect(NOT_RUN.filter(({ command }) => !lines.some((line) => command.test(line)))).toEqual([])
  for (const { because } of NOT_RUN)
    for (const [path] of because.matchAll(/\btest\/[\w/.-]*\w/g)) expect(existsSync(join(ROOT, path)), path).toBe(true)
})

test('each program of an example that a page starts is started by a test', () => {
  const programs = shell.flatMap(({ text }) =>
    commandsOf(text).flatMap(({ words: [program, path = ''] }) => {
      const [, folder, file] = /^apps\/examples\/(?:.*\/)?([\w-]+)(?:\/dist)?\/([\w-]+)\.[jt]s$/.exec(path) ?? []
      return program === 'node' && folder !== undefined ? [{ path, folder, file }] : []
    }),
  )
  expect(programs.length).toBeGreaterThan(15)
  const tests = globSync('test/{consumers,examples,frameworks,postgres}/*.ts', { cwd: ROOT }).map((file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  )
  const isStarted = (folder: string, file: string | undefined) =>
    tests.some((text) => new RegExp(`\\b${folder}\\b`).test(text) && new RegExp(`\\b${file}\\b`).test(text))
  expect(programs.filter(({ folder, file }) => !isStarted(folder, file)).map(({ path }) => path)).toEqual([])
})
