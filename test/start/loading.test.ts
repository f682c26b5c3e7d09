/** What is loaded before the first job: of every package that is not named here a user has nothing to wait for. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'

const TELLS = new URL('./programs/tells.mjs', import.meta.url).href
const MAIN = fileURLToPath(new URL('../../apps/millrace/dist/main.js', import.meta.url))

const ENGINE = ['@millrace/client', '@millrace/core', '@millrace/engine', '@millrace/worker', 'croner', 'eventemitter3']
const WRITER = [
  '@millrace/client',
  '@millrace/core',
  '@millrace/engine',
  '@millrace/sql',
  '@millrace/sqlite',
  '@millrace/worker',
  'better-sqlite3',
  'croner',
]
const COMMANDS = ['commander', 'millrace']

function loadedBy(...args: readonly string[]): Record<'main' | 'thread', string[]> {
  const told = join(temporaryFolder(), 'told')
  const NODE_OPTIONS = `${process.env['NODE_OPTIONS']} --import=${TELLS}`
  execFileSync(process.execPath, args, { cwd: import.meta.dirname, env: { ...process.env, NODE_OPTIONS, TOLD: told }, stdio: 'pipe' })
  const lines = existsSync(told) ? readFileSync(told, 'utf8').trim().split('\n') : []
  const of = (thread: string) =>
    [...new Set(lines.filter((line) => line.startsWith(`${thread} `)).map((line) => line.slice(thread.length + 1)))].sort()
  return { main: of('main'), thread: of('thread') }
}

test('the import of the engine', () => {
  expect(loadedBy('--input-type=module', '-e', "await import('@millrace/engine')")).toEqual({ main: ENGINE, thread: [] })
})

test('an engine: nothing more here, and its writer', () => {
  const file = join(temporaryFolder(), 'jobs.db')
  const program = `const { openEngine } = await import('@millrace/engine')
    const engine = await openEngine({ file: ${JSON.stringify(file)} })
    await engine.enqueue('a', {})
    await engine.stop()`
  expect(loadedBy('--input-type=module', '-e', program)).toEqual({ main: ENGINE, thread: WRITER })
})

test('a command that asks for the version, and one that enqueues', () => {
  const file = join(temporaryFolder(), 'jobs.db')
  expect(loadedBy(MAIN, '--version')).toEqual({ main: ['millrace'], thread: [] })
  expect(loadedBy(MAIN, 'enqueue', 'a', '{}', '--file', file)).toEqual({
    main: [...ENGINE, ...COMMANDS, '@millrace/remote', '@millrace/wire'].sort(),
    thread: WRITER,
  })
})
