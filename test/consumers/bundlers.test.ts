// The packed engine in a program that is bundled, as docs/bundling.md says, and wholly. @millrace/postgres is not installed. Bundlers and
// bundles are programs of their own, so each test starts some.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { install, pack, tarballsOf } from './pack.ts'
import { run } from './run.ts'

const PAGE = readFileSync(new URL('../../docs/bundling.md', import.meta.url), 'utf8')
const programOf = (name: string) => readFileSync(new URL(`programs/${name}.mjs`, import.meta.url), 'utf8')
const PROGRAM = programOf('bundled')
const LONG = { timeout: 600_000 }
/** Exact: a run does not depend on what was released this morning. */
const TOOLS = [
  'esbuild@0.28.2',
  'webpack@5.113.0',
  'webpack-cli@7.3.1',
  'rollup@4.68.8',
  '@rollup/plugin-commonjs@29.0.3',
  '@rollup/plugin-node-resolve@16.0.3',
  'vite@8.3.8',
]

interface Bundler {
  readonly name: string
  readonly command: string
  /** What it writes. */
  readonly bundle: string
  /** Its file of settings on the page. */
  readonly settings?: string
  /** Makes settings that bundle everything of those that the page has. */
  readonly inside: (text: string) => string
}

const [, ESBUILD = ''] = /^```sh\nnpx (esbuild .*)$/m.exec(PAGE) ?? []
const BUNDLERS: readonly Bundler[] = [
  { name: 'esbuild', command: ESBUILD, bundle: 'out/server.mjs', inside: (text) => text.replace("'--external:@millrace/*' ", '') },
  {
    name: 'webpack',
    command: 'webpack',
    bundle: 'out/server.cjs',
    settings: 'webpack.config.mjs',
    inside: (text) => text.replace(/externals: .*/, ''),
  },
  {
    name: 'rollup',
    command: 'rollup -c',
    bundle: 'out/server.mjs',
    settings: 'rollup.config.mjs',
    // Rollup needs more plugins for packages of CommonJS.
    inside: (text) => text.replace(/external: .*/, 'external: (name, from) => from !== undefined && !/^(?:[./]|@millrace)/.test(name),'),
  },
  {
    name: 'vite',
    command: 'vite build',
    bundle: 'out/server.mjs',
    settings: 'vite.config.mjs',
    inside: (text) => text.replace(/, external: .*\]/, ''),
  },
]

/** The name of the file of settings for a whole bundle, and how it is run, which its first line says too. */
const WHOLE = {
  'esbuild.whole.mjs': 'node esbuild.whole.mjs',
  'webpack.whole.mjs': 'webpack -c webpack.whole.mjs',
  'rollup.whole.mjs': 'rollup -c rollup.whole.mjs',
  'vite.whole.mjs': 'vite build -c vite.whole.mjs',
}

/** Installs the package that whole bundles leave out. */
const [PISCINA = ''] = /^npm install --prefix out .*/m.exec(PAGE) ?? []

let folder: string

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-bundlers-')))
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  mkdirSync(join(folder, 'packed'))
  await pack(join(folder, 'packed'))
  await install(folder, [...TOOLS, ...tarballsOf(join(folder, 'packed'), 'engine')])
  writeFileSync(join(folder, 'server.mjs'), PROGRAM)
}, 600_000)

afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})

/** Writes a file that the page shows, and returns it. */
function write(name: string, changed: (text: string) => string = (text) => text): string {
  const [, block = ''] = new RegExp(`^\`\`\`js\\n(// ${name}.*?)^\`\`\`$`, 'ms').exec(PAGE) ?? []
  expect(block).not.toBe('')
  writeFileSync(join(folder, name), changed(block))
  return block
}

async function execute(line: string): Promise<void> {
  const { code, stdout, stderr } = await run('npx', ['--no-install', '-c', line], folder, { hangsMs: 300_000 })
  expect(code, stdout + stderr).toBe(0)
}

async function bundle({ command, settings }: Bundler, changed: (text: string) => string = (text) => text): Promise<void> {
  rmSync(join(folder, 'out'), { recursive: true, force: true })
  if (settings !== undefined) write(settings, changed)
  await execute(settings === undefined ? changed(command) : command)
}

async function outcomeOf(file: string, cwd = folder): Promise<unknown> {
  const { code, stdout, stderr } = await run(process.execPath, [file], cwd)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

test.for(BUNDLERS)('$name, as the page says: the bundle runs a job, and has a page of jobs', LONG, async (bundler) => {
  await bundle(bundler)
  expect(readFileSync(join(folder, bundler.bundle), 'utf8')).toContain('@millrace/engine')
  expect(await outcomeOf(bundler.bundle)).toEqual({ output: 42, listed: true })
})

test.for(BUNDLERS)(
  '$name, with Millrace in the bundle: it builds without @millrace/postgres, and says what to do',
  LONG,
  async (bundler) => {
    await bundle(bundler, bundler.inside)
    // Elsewhere there are no packages. A bundle of webpack knows where they were.
    renameSync(join(folder, 'node_modules/@millrace'), join(folder, 'away'))
    try {
      expect(await outcomeOf(bundler.bundle)).toEqual({
        name: expect.any(String),
        code: 'UNSUPPORTED_RUNTIME',
        message: expect.stringMatching(/bundled.+mark @millrace\/engine as external/),
      })
    } finally {
      renameSync(join(folder, 'away'), join(folder, 'node_modules/@millrace'))
    }
  },
)

test.for(Object.entries(WHOLE))(
  '%s: in a folder with nothing but the driver and Piscina, the bundle runs jobs here, in a thread and in a process',
  LONG,
  async (recipe) => {
    const [settings, command] = recipe
    rmSync(join(folder, 'out'), { recursive: true, force: true })
    expect(write(settings).split('\n')[0]).toContain(`\`${command}\``)
    write('driver.mjs')
    writeFileSync(join(folder, 'server.mjs'), programOf('whole'))
    writeFileSync(join(folder, 'resize.mjs'), programOf('resize'))
    await execute(command)
    await execute('node driver.mjs')
    writeFileSync(join(folder, 'server.mjs'), PROGRAM)
    const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-whole-')))
    onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true, maxRetries: 3 }))
    renameSync(join(folder, 'out'), join(elsewhere, 'out'))
    const { version, dependencies } = JSON.parse(readFileSync(new URL('../../packages/engine/package.json', import.meta.url), 'utf8'))
    expect(`^${PISCINA.replace(/.*@/, '')}`).toBe(dependencies.piscina.split('.')[0])
    const installed = await run('npm', [...PISCINA.split(' ').slice(1), '--prefer-offline'], elsewhere, { hangsMs: 240_000 })
    expect(installed.code, installed.stdout + installed.stderr).toBe(0)
    expect(await outcomeOf('out/server.mjs', elsewhere)).toEqual({
      outputs: [42, 'thread: 42', 'process: 42'],
      listed: 3,
      version,
      tornDown: ['process', 'thread'],
    })
  },
)

test('openEngine({ postgres }) without @millrace/postgres, not bundled: it says what to install', async () => {
  writeFileSync(join(folder, 'postgres.mjs'), PROGRAM.replace("file: 'bundled.db'", "postgres: 'postgres://localhost/app'"))
  expect(await outcomeOf('postgres.mjs')).toEqual({
    name: 'UnsupportedRuntimeError',
    code: 'UNSUPPORTED_RUNTIME',
    message: expect.stringContaining('needs the package @millrace/postgres: install it'),
  })
})
