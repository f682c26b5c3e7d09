// The table of docs/testing.md: jest with each compiler, on the oldest Node and on the one that runs this test. jest is a program of its own,
// and each Node too, so this starts them.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { install, pack, tarballsOf } from './pack.ts'
import { run } from './run.ts'

const PAGE = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8')
const PLATFORM = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
/** Exact: a run does not depend on what was released this morning. */
const TOOLS = [
  ...['jest@30.5.2', '@types/jest@30.0.0', '@types/node@24.19.2', 'typescript@5.9.3', 'ts-jest@29.4.15'],
  ...['babel-jest@30.5.2', '@babel/core@7.29.13', '@babel/preset-env@7.29.14', '@babel/preset-typescript@7.29.7'],
  ...['@swc/jest@0.2.39', '@swc/core@1.16.22', `node22@npm:node-${PLATFORM}@22.23.3`],
]

interface Row {
  readonly compiler: string
  readonly to: string
  readonly type: string
  readonly config: string
  readonly node22: string
  readonly node24: string
}

const [, TABLE = ''] = /^\| tests are compiled by .*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(PAGE) ?? []
const ROWS = TABLE.trim()
  .split('\n')
  .map((line): Row => {
    const [compiler = '', to = '', type = '', config = '', node22 = '', node24 = ''] = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', ''))
    return { compiler, to, type, config, node22, node24 }
  })

/** The settings of each compiler, as the list below the table has them. */
const TSCONFIG: Readonly<Record<string, object>> = {
  'ES modules': { module: 'esnext', moduleResolution: 'bundler' },
  CommonJS: { module: 'commonjs' },
}
const BABEL: Readonly<Record<string, readonly unknown[]>> = {
  'ES modules': ['@babel/preset-typescript'],
  CommonJS: [['@babel/preset-env', { targets: { node: 'current' } }], '@babel/preset-typescript'],
}

const TYPED = `
import { defineJob } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'

const greet = defineJob<{ name: string }, string>({ name: 'greet' })

test('a greeting is sent an hour later', async () => {
  const t = createTestEngine()
  t.engine.work(greet.handler(({ data }) => 'Hello, ' + data.name))
  await t.engine.enqueue(greet, { name: 'Ada' }, { delay: '1h' })
  await t.clock.advance('1h')
  await t.expectEnqueued(greet, { output: 'Hello, Ada' }, { count: 1 })
  await t[Symbol.asyncDispose]()
})
`
const PLAIN = TYPED.replace('<{ name: string }, string>', '')
const REQUIRED = PLAIN.replace(/import (\{.*\}) from ('.*')/g, 'const $1 = require($2)')

let folder: string

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-jest-')))
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  mkdirSync(join(folder, 'packed'))
  await pack(join(folder, 'packed'))
  await install(folder, [...TOOLS, ...tarballsOf(join(folder, 'packed'), 'engine', 'testkit')])
}, 600_000)

afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})

function createProject({ compiler, to, type, config }: Row): string {
  const project = join(folder, `${compiler} ${to}`)
  mkdirSync(project, { recursive: true })
  const write = (name: string, text: string) => writeFileSync(join(project, name), text)
  write('package.json', JSON.stringify({ private: true, type }))
  write('jest.config.json', config)
  if (compiler === 'nothing') write('queue.test.js', to === 'CommonJS' ? REQUIRED : PLAIN)
  else write('queue.test.ts', TYPED)
  const compilerOptions = { ...TSCONFIG[to], target: 'es2022', strict: true, esModuleInterop: true, types: ['jest', 'node'] }
  if (compiler === 'ts-jest') write('tsconfig.json', JSON.stringify({ compilerOptions }))
  if (compiler === 'Babel') write('babel.config.json', JSON.stringify({ presets: BABEL[to] }))
  return project
}

test('the table has each compiler, with ES modules and with CommonJS', () => {
  const names = ['nothing', 'ts-jest', 'Babel', 'SWC']
  expect(ROWS.map(({ compiler, to }) => `${compiler} ${to}`)).toEqual(
    ['ES modules', 'CommonJS'].flatMap((to) => names.map((compiler) => `${compiler} ${to}`)),
  )
})

const CASES = ROWS.flatMap((row) => [
  { row, node: 22, expected: row.node22 },
  { row, node: 24, expected: row.node24 },
])

test.for(CASES)('$row.compiler to $row.to, on Node $node: it $expected', { timeout: 300_000 }, async ({ row, node, expected }) => {
  const program = node === 22 ? join(folder, 'node_modules/node22/bin/node') : process.execPath
  const jest = [join(folder, 'node_modules/jest/bin/jest.js'), '--rootDir', '.', '--runInBand']
  const { code, stdout, stderr } = await run(program, jest, createProject(row), {
    hangsMs: 240_000,
    env: { NODE_OPTIONS: '--experimental-vm-modules' },
  })
  expect(code, stdout + stderr).toBe(expected === 'works' ? 0 : 1)
  expect(stderr).toMatch(expected === 'works' ? /Tests:\s+1 passed, 1 total/ : /Must use import to load ES Module/)
})
