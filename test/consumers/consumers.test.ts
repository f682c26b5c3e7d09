// The packed packages, as those who install them meet them.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../program.ts'
import { type Consumer, createConsumer } from './consumer.ts'
import { type Installer, installersOf } from './installers.ts'
import { type Ended, run } from './run.ts'

const ATTW = fileURLToPath(new URL('dist/index.js', import.meta.resolve('@arethetypeswrong/cli/package.json')))
const PACKAGES = readdirSync(new URL('../../packages/', import.meta.url))
  .filter(isPublished)
  .toSorted()

/** The copy of better-sqlite3 in the tarball of sqlite. */
const DRIVER = 'package/dist/better-sqlite3/'

let consumer: Consumer

/** The quick start of the README, which is told to stop when its job is done. */
const QUICK_START = `${/^```js\n(.*?)^```$/ms.exec(readFileSync(new URL('../../README.md', import.meta.url), 'utf8'))?.[1]}
await handle.result()
process.kill(process.pid, 'SIGTERM')
`

beforeAll(async () => {
  consumer = await createConsumer()
}, 600_000)

afterAll(() => consumer?.remove())

function isPublished(name: string): boolean {
  const manifest = readFileSync(new URL(`../../packages/${name}/package.json`, import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { readonly private?: boolean }).private !== true
}

/** What a program can import of a package, as its published manifest says. */
function entriesOf(name: string): string[] {
  const manifest = readFileSync(new URL(`../../packages/${name}/package.json`, import.meta.url), 'utf8')
  const { publishConfig } = JSON.parse(manifest) as { readonly publishConfig: { readonly exports: Readonly<Record<string, object>> } }
  const paths = Object.keys(publishConfig.exports).filter((path) => path !== './package.json')
  return paths.map((path) => `@millrace/${name}${path.slice(1)}`)
}

/** What it printed, as JSON, where it ended well. */
function told({ code, stdout, stderr }: Ended): unknown {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

const program = () => consumer.tarballs.find((name) => /^millrace-\d/.test(name)) as string
/** It has no name that others import, and create.test.ts runs it. */
const creator = () => consumer.tarballs.find((name) => name.startsWith('create-millrace-')) as string

function filesOf(tarball: string): string[] {
  return execFileSync('tar', ['tzf', tarball], { cwd: consumer.folder, encoding: 'utf8' }).split('\n').filter(Boolean)
}

describe('the tarballs', () => {
  test('are of every package, of the dashboard, and of the programs', () => {
    const names = consumer.tarballs.map((name) => name.replace(/-\d.*$/, ''))
    expect(names.toSorted()).toEqual([
      'create-millrace',
      'millrace',
      ...[...PACKAGES, 'dashboard'].toSorted().map((name) => `millrace-${name}`),
    ])
  })

  test.for(PACKAGES)('%s: code, types, manifest, README and licence; no sources, no tests', (name) => {
    const tarball = consumer.tarballs.find((file) => file.startsWith(`millrace-${name}-`)) as string
    const files = filesOf(tarball)
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts'].map((file) => `package/${file}`)),
    )
    const strays = files.filter(
      (file) =>
        !file.startsWith(DRIVER) &&
        !/^package\/(?:LICENSE|README\.md|AGENTS\.md|package\.json|dist\/(?:[\w/-]+\.d\.ts|[\w-]+\.js(?:\.map)?)|vectors\/\w+\.json)$/.test(
          file,
        ),
    )
    expect(strays).toEqual([])
    expect(files.filter((file) => /\/(?:src|testing|fixtures)\//.test(file))).toEqual([])
    expect(files.some((path) => path.endsWith('.js.map'))).toBe(true)
    // Each file of types has its source: none is a leftover of a file that is gone.
    const sources = new URL(`../../packages/${name}/src/`, import.meta.url)
    for (const file of files.filter((path) => path.endsWith('.d.ts')))
      expect(existsSync(new URL(file.replace(/^package\/dist\//, '').replace(/\.d\.ts$/, '.ts'), sources)), file).toBe(true)
  })

  test('sqlite: what runs of its driver, in the version that is tested here, with its licence; it compiles nothing', () => {
    const tarball = consumer.tarballs.find((file) => file.startsWith('millrace-sqlite-')) as string
    const installed = fileURLToPath(new URL('../../packages/sqlite/node_modules/better-sqlite3/', import.meta.url))
    const running = globSync('{lib,prebuilds}/**/*.{js,node}', { cwd: installed }).map((file) => file.replaceAll('\\', '/'))
    expect(running.filter((file) => file.startsWith('prebuilds/'))).toHaveLength(8)
    const copied = filesOf(tarball).filter((file) => file.startsWith(DRIVER))
    expect(copied.toSorted()).toEqual([...running, 'COPYING', 'package.json'].map((file) => `${DRIVER}${file}`).toSorted())
    const read = (file: string) => execFileSync('tar', ['xzOf', tarball, file], { cwd: consumer.folder, encoding: 'utf8' })
    expect(read(`${DRIVER}COPYING`)).toBe(readFileSync(join(installed, 'LICENSE'), 'utf8'))
    const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    expect(JSON.parse(read(`${DRIVER}package.json`))).toMatchObject({ name: 'better-sqlite3', version, license: 'MIT' })
    expect(JSON.parse(read('package/package.json')).dependencies).not.toHaveProperty('better-sqlite3')
  })

  test('millrace: code, manifest, README, licence and dashboard; no sources, no tests', () => {
    const files = filesOf(program())
    const around = ['LICENSE', 'README.md', 'package.json', 'dashboards/grafana.json', 'dashboards/alerts.yml'].map(
      (file) => `package/${file}`,
    )
    expect(files).toEqual(expect.arrayContaining([...around, 'package/dist/main.js']))
    const code = files.filter((file) => !around.includes(file))
    expect(code.filter((file) => !/^package\/dist\/[\w-]+\.js(?:\.map)?$/.test(file))).toEqual([])
  })

  test('create-millrace: code, manifest, README, licence and all files of the templates; no sources, no tests, no dependencies', () => {
    const files = filesOf(creator()).map((file) => file.replace(/^package\//, ''))
    const folder = new URL('../../apps/create-millrace/', import.meta.url)
    const templates = globSync('templates/**/*', { cwd: folder, withFileTypes: true, exclude: (entry) => entry.name === 'node_modules' })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(fileURLToPath(folder), join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    const around = ['LICENSE', 'README.md', 'package.json', 'dist/main.js', 'dist/main.js.map']
    expect(files.toSorted()).toEqual([...around, ...templates].toSorted())
    const manifest = execFileSync('tar', ['xzOf', creator(), 'package/package.json'], { cwd: consumer.folder, encoding: 'utf8' })
    expect(JSON.parse(manifest)).not.toHaveProperty('dependencies')
  })

  test('dashboard: code, types, and the page with each file compressed; no sources, no tests', async () => {
    const tarball = consumer.tarballs.find((file) => file.startsWith('millrace-dashboard-')) as string
    const around = ['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.js.map', 'dist/index.d.ts', 'dist/page/index.html']
    const files = filesOf(tarball).map((file) => file.replace(/^package\//, ''))
    expect(files).toEqual(expect.arrayContaining(around))
    const others = files.filter((file) => !around.includes(file) && !/^dist\/\w+\.d\.ts$/.test(file))
    expect(others.filter((file) => !/^dist\/page\/assets\/[\w.-]+\.(?:js|css|svg)(?:\.br|\.gz)?$/.test(file))).toEqual([])
    consumer.write(
      'page.mjs',
      "const { dashboardFiles } = await import('@millrace/dashboard'); console.log(JSON.stringify([...(await dashboardFiles()).keys()]))",
    )
    const paths = told(await consumer.node('page.mjs')) as string[]
    expect(paths.map((path) => `dist/page${path}`)).toEqual(expect.arrayContaining(others.filter((file) => !/\.(?:br|gz)$/.test(file))))
    expect(paths).toContain('/index.html')
  })

  test('publint has nothing to say', async () => {
    for (const name of consumer.tarballs) {
      const tarball = new Uint8Array(readFileSync(join(consumer.folder, name))).buffer
      const { messages } = await publint({ pack: { tarball }, strict: true })
      expect(messages, name).toEqual([])
    }
  })

  test('@arethetypeswrong/cli finds nothing wrong, for ESM', async () => {
    // The programs have nothing to import.
    for (const name of consumer.tarballs.filter((tarball) => tarball !== program() && tarball !== creator())) {
      const { code, stdout, stderr } = await run(process.execPath, [ATTW, name, '--profile', 'esm-only'], consumer.folder)
      expect(code, stdout + stderr).toBe(0)
    }
  })
})

describe('a program in TypeScript', () => {
  const PROGRAM = `
import { defineJob, openEngine } from '@millrace/engine'
import { z } from 'zod'

const resize = defineJob({ name: 'resize', schema: z.object({ path: z.string(), width: z.number().default(80) }) }).returns<string>()
await using engine = await openEngine({ file: 'jobs.db' })
engine.work(resize.handler(({ data: { path, width } }) => path.padEnd(width satisfies number, '.')))
const handle = await engine.enqueue(resize, { path: 'a.png', width: 8 })
const output: string = await handle.result({ timeout: '30s' })
process.stdout.write(JSON.stringify(output))
`

  const WRONG = `
import { defineJob, type Engine } from '@millrace/engine'
import { z } from 'zod'

export async function wrong(engine: Engine): Promise<void> {
  const resize = defineJob({ name: 'resize', schema: z.object({ path: z.string() }) })
  // @ts-expect-error path is a text
  await engine.enqueue(resize, { path: 1 })
  // @ts-expect-error there is no such data
  await engine.enqueue(resize, { file: 'a.png' })
  // @ts-expect-error there is no such data, also among many
  await engine.enqueueMany([{ job: resize, data: { file: 'a.png' } }])
  // @ts-expect-error nor in a flow
  await engine.flow([{ ref: 'a', job: resize, data: { file: 'a.png' } }])
  // @ts-expect-error the output is as its definition says
  const bytes: number = await (await engine.enqueue(resize.returns<string>(), { path: 'a.png' })).result()
  console.log(bytes)
  // @ts-expect-error there is no such option
  await engine.enqueue(resize, { path: 'a.png' }, { later: '5m' })
  // @ts-expect-error the handler's data is as its schema says
  resize.handler(({ data }) => data.file)
  // @ts-expect-error without a schema, the type says what the data is
  await engine.enqueue(defineJob<{ path: string }>({ name: 'resize' }), { path: 1 })
  // @ts-expect-error there is no such durability
  await (await import('@millrace/engine')).openEngine({ file: 'jobs.db', durability: 'some' })
}
`

  const TESTED = `
import { defineJob, type Job } from '@millrace/engine'
import { createTestEngine } from '@millrace/testkit'

const resize = defineJob<{ path: string }>({ name: 'resize' })
const t = createTestEngine({ mode: 'inline', now: new Date(0) })
t.engine.work(resize.handler(({ data }) => data.path))
await t.engine.enqueue(resize, { path: 'a.png' })
const [job]: readonly Job[] = await t.expectEnqueued(resize, { data: { path: 'a.png' }, state: 'completed' }, { count: 1 })
await t[Symbol.asyncDispose]()
process.stdout.write(JSON.stringify(job?.output))
// @ts-expect-error there is no such mode
export const wrong = () => createTestEngine({ mode: 'fast' })
`

  const COMMON = `
import { openEngine } from '@millrace/engine'
export const open = (): Promise<unknown> => openEngine({ file: 'common.db' })
`

  test('is checked strictly with all declarations, compiled, and runs: enqueue, work, result', async () => {
    consumer.write('program.ts', PROGRAM)
    consumer.write('wrong.ts', WRONG)
    consumer.write('common.cts', COMMON)
    consumer.write('tested.ts', TESTED)
    const compilerOptions = {
      strict: true,
      module: 'nodenext',
      target: 'es2024',
      lib: ['es2024'],
      types: ['node'],
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      outDir: 'compiled',
    }
    consumer.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['program.ts', 'wrong.ts', 'tested.ts', 'common.cts'] }))
    expect(await consumer.tsc([])).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(told(await consumer.node('compiled/program.js'))).toBe('a.png...')
    expect(told(await consumer.node('compiled/tested.js'))).toBe('a.png')
  })

  test.each([
    ['nodenext', { module: 'nodenext' }, ['program.ts', 'common.cts']],
    ['bundler', { module: 'esnext', moduleResolution: 'bundler' }, ['program.ts']],
  ])('is checked with the oldest lib that docs/platforms.md names: %s', async (name, resolution, files) => {
    consumer.write('program.ts', PROGRAM)
    consumer.write('common.cts', COMMON)
    const compilerOptions = { strict: true, ...resolution, target: 'es2022', types: ['node'], skipLibCheck: false, noEmit: true }
    consumer.write(`tsconfig.${name}.json`, JSON.stringify({ compilerOptions, files }))
    expect(await consumer.tsc(['--project', `tsconfig.${name}.json`])).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  // The types of each entry lead to those of other packages, by paths that only `exports` or `typesVersions` has.
  test.each([
    ['commonjs, which is node10', { module: 'commonjs' }],
    ['node10', { module: 'esnext', moduleResolution: 'node10' }],
    ['node16', { module: 'node16' }],
    ['nodenext', { module: 'nodenext' }],
    ['bundler', { module: 'esnext', moduleResolution: 'bundler' }],
  ])('TypeScript 5 finds the types of every entry: %s', { timeout: 300_000 }, async (_, resolution) => {
    const entries = PACKAGES.filter((name) => name !== 'sqlite').flatMap(entriesOf)
    expect(entries).toEqual(expect.arrayContaining(['@millrace/engine', '@millrace/core/kernel', '@millrace/testkit/conformance']))
    const lines = entries.map((entry, at) => `import type * as M${at} from '${entry}'\nexport type Names${at} = keyof typeof M${at}`)
    consumer.write('entries.ts', lines.join('\n'))
    consumer.write('everywhere.ts', PROGRAM.replace(/^await using .*$.*/ms, ''))
    const compilerOptions = {
      ...{ strict: true, esModuleInterop: true, ...resolution, target: 'es2022', types: ['node'] },
      ...{ skipLibCheck: false, noEmit: true },
    }
    consumer.write('tsconfig.entries.json', JSON.stringify({ compilerOptions, files: ['entries.ts', 'everywhere.ts'] }))
    expect(await consumer.tsc(['--project', 'tsconfig.entries.json'], 'typescript5')).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  test("compiled by TypeScript 5 with `module: 'commonjs'`, it runs", async () => {
    const body = PROGRAM.replace('await using engine', 'const engine').replace('jobs.db', 'commonjs.db')
    consumer.write(
      'commonjs.ts',
      body.replace(/^const engine.*$/ms, (lines) => `async function main() {\n${lines}await engine.stop()\n}\nvoid main()`),
    )
    const flags = ['--module', 'commonjs', '--target', 'es2022', '--types', 'node', '--strict', '--esModuleInterop', '--outDir', 'cjs']
    expect(await consumer.tsc([...flags, '--skipLibCheck', 'commonjs.ts'], 'typescript5')).toEqual({ code: 0, stdout: '', stderr: '' })
    consumer.write('cjs/package.json', '{"type":"commonjs"}')
    expect(told(await consumer.node('cjs/commonjs.js'))).toBe('a.png...')
  })

  test('runs as it is, with its types stripped', async () => {
    consumer.write('stripped.ts', PROGRAM.replace('jobs.db', 'stripped.db'))
    expect(told(await consumer.node('stripped.ts'))).toBe('a.png...')
  })
})

test('CommonJS takes it with require', async () => {
  expect(told(await consumer.node('common.cjs'))).toBe(42)
})

test('an engine that nobody stops lets its process end', async () => {
  expect(await consumer.node('idle.mjs')).toEqual({ code: 0, stdout: 'enqueued', stderr: '' })
})

describe('threads', () => {
  test('a handler that is a module runs on a thread pool; list has its reader thread', async () => {
    const done = (name: string) => ({ said: `hello ${name}`, isMainThread: false, inThread: true })
    expect(told(await consumer.node('threads.mjs'))).toEqual({
      outputs: [done('ann'), done('bob'), done('cid')],
      pages: [['hello cid', 'hello bob'], ['hello ann']],
      tagged: ['hello bob'],
    })
  })

  test('openEngine works in a thread of the consumer', async () => {
    expect(told(await consumer.node('own-thread.mjs'))).toEqual({ output: 42, listed: [42] })
  })

  test('attach(engine.port()) in another thread is the same engine', async () => {
    expect(told(await consumer.node('attached.mjs'))).toEqual({
      outputs: ['from the first: second thread', 'from the second: first thread', 'from the second: first thread'],
      completed: 2,
      workers: 1,
    })
  })
})

describe('installed by', () => {
  // Named before there are tarballs.
  test.for(installersOf('', {}).map(({ name }) => name))('%s: the quick start runs', { timeout: 300_000 }, async (name) => {
    const tarballs = Object.fromEntries(
      consumer.tarballs
        .filter((file) => file !== creator())
        .map((file) => {
          const [, short] = /^millrace(?:-(\D[a-z]+))?-\d/.exec(file) as RegExpExecArray
          return [short === undefined ? 'millrace' : `@millrace/${short}`, join(consumer.folder, file)]
        }),
    )
    const installer = installersOf('@millrace/engine', tarballs).find((one) => one.name === name) as Installer
    // Beside the consumer's project: jest would take all below it for that project's own.
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-installed-')))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
    const manifest = JSON.stringify({ name: 'app', private: true, type: 'module', ...installer.manifest })
    const files = { 'package.json': manifest, 'server.mjs': QUICK_START, ...installer.files }
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)

    const [command, ...args] = installer.install
    const installed = await run(command, args, folder, { hangsMs: 240_000 })
    expect(installed.code, installed.stdout + installed.stderr).toBe(0)
    const [node, ...flags] = installer.node ?? [process.execPath]
    const { code, stdout, stderr } = await run(node, [...flags, 'server.mjs'], folder)
    expect({ code, stdout }, stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sending mail to ada@example\.com$/m) })
  })
})

describe('bundled with esbuild', () => {
  const bundle = async (...args: readonly string[]) => {
    const esbuild = ['bundled.mjs', '--bundle', '--platform=node', '--log-level=error', ...args]
    expect(await consumer.tool('esbuild', ...esbuild)).toEqual({ code: 0, stdout: '', stderr: '' })
  }

  test.for(['esm', 'cjs'])('%s, with the package left out: runs', async (format) => {
    const outfile = `outside.${format === 'esm' ? 'mjs' : 'cjs'}`
    await bundle(`--format=${format}`, '--external:@millrace/engine', `--outfile=${outfile}`)
    expect(told(await consumer.node(outfile))).toEqual({ output: 42, listed: true })
  })

  const refusal = {
    name: 'UnsupportedRuntimeError',
    code: 'UNSUPPORTED_RUNTIME',
    message: expect.stringMatching(/bundled.+mark @millrace\/engine as external.+--external:@millrace\/engine/),
  }

  test.for(['esm', 'cjs'])('%s, with the package in it: refuses to open, says what to do, and ends', async (format) => {
    const outfile = `inside.${format === 'esm' ? 'mjs' : 'cjs'}`
    await bundle(`--format=${format}`, `--outfile=${outfile}`)
    expect(told(await consumer.node(outfile))).toEqual(refusal)
  })

  test('with the path of another machine in place of import.meta.url, as webpack does it: the same', async () => {
    const there = JSON.stringify('file:///elsewhere/node_modules/@millrace/engine/dist/writer/thread.js')
    await bundle('--format=cjs', `--define:import.meta.url=${there}`, '--outfile=elsewhere.cjs')
    expect(told(await consumer.node('elsewhere.cjs'))).toEqual(refusal)
  })
})

describe('test runners', () => {
  test('vitest', async () => {
    consumer.write('vitest.config.js', `export default { test: { include: ['*.spec.mjs'], globals: true } }`)
    const { code, stdout, stderr } = await consumer.tool('vitest', 'run')
    expect(code, stdout + stderr).toBe(0)
    expect(stdout).toMatch(/Tests\s+5 passed \(5\)/)
  })

  // What jest needs: `transform: {}`, so that ES modules stay as they are, and Node's --experimental-vm-modules, with which jest
  // runs them. On Node 24.9 and newer the same flag lets `require` of an ES module through, so that tests in CommonJS work too.
  test('jest, with ES modules and with CommonJS', async () => {
    consumer.write(
      'jest.config.json',
      JSON.stringify({ testMatch: ['**/*.spec.mjs', '**/*.spec.cjs'], transform: {}, testEnvironment: 'node' }),
    )
    const jest = ['--config', 'jest.config.json', '--runInBand']
    const { code, stdout, stderr } = await consumer.node('--experimental-vm-modules', 'node_modules/jest/bin/jest.js', ...jest)
    expect(code, stdout + stderr).toBe(0)
    expect(stderr).toMatch(/Tests:\s+6 passed, 6 total/)
  })
})

describe('the program', () => {
  const CONFIG = `
const config: { exec: object; worker: object } = {
  exec: { report: { shell: true, file: 'echo "report of $JOB_DATA_SHOP"' } },
  worker: { handlers: ['./app-handlers.mjs'], queues: ['default'] },
}
export default config
`
  const HANDLERS = `
import { defineJob } from '@millrace/worker'
export const double = defineJob({ name: 'double' }).handler(({ data }) => data * 2)
`

  /** What the command says, run as a shell runs what npm has linked; all beside the project's own files. */
  const millrace = async (...args: readonly string[]) => {
    const env = ['-u', 'MILLRACE_URL', '-u', 'MILLRACE_FILE', `MILLRACE_STATE_DIR=${join(consumer.folder, 'state')}`]
    const { code, stdout, stderr } = await run('env', [...env, 'node_modules/.bin/millrace', ...args], consumer.folder)
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
    return stdout
  }
  const asked = async (...args: readonly string[]) => JSON.parse(await millrace(...args, '--json'))

  test('millrace serve, from the tarballs alone: HTTP, jobs, commands, handlers, a worker apart; ended by SIGTERM', {
    timeout: 300_000,
  }, async () => {
    consumer.write('millrace.config.ts', CONFIG)
    consumer.write('app-handlers.mjs', HANDLERS)
    const bin = pathToFileURL(join(consumer.folder, 'node_modules/.bin/millrace'))
    const clean = ['env', '-C', consumer.folder, '-u', 'NODE_ENV', '-u', 'MILLRACE_FILE', '-u', 'MILLRACE_TOKEN']
    const daemon = startProgram(bin, ['serve', '--http-port', '0', '--log-format', 'json'], clean)
    const { url } = JSON.parse(await daemon.said(/"msg":"serving"/)) as { url: string }
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    const authorization = `Bearer ${readFileSync(join(consumer.folder, 'millrace.db-token'), 'utf8').trim()}`
    expect(await (await fetch(`${url}/`)).text()).toContain('<meta name="base-path" content="" />')
    for (const page of ['/docs', '/openapi.json', '/metrics'])
      expect((await fetch(`${url}${page}`, { headers: { authorization } })).status, page).toBe(200)

    const bystander = (await millrace('enqueue', 'nobody')).trim()
    expect(await asked('enqueue', 'double', '21', '--wait', '--wait-timeout', '1m')).toMatchObject({ output: 42 })
    expect(await asked('enqueue', 'report', '{"shop":"north"}', '--wait', '--wait-timeout', '1m')).toMatchObject({
      output: { exitCode: 0, stdout: { head: 'report of north\n' } },
    })
    await millrace('worker', 'start', '--detach', '--id', 'apart', '--handlers', './app-handlers.mjs', '--queues', 'apart')
    expect(await asked('enqueue', 'double', '4', '--queue', 'apart', '--wait', '--wait-timeout', '1m')).toMatchObject({ output: 8 })
    expect(await millrace('worker', 'stop', '--all')).toMatch(/^apart \(process \d+\) stopped\n$/)
    const { jobs } = await asked('jobs', 'list')
    expect(jobs.map(({ name, state }: { name: string; state: string }) => `${name} ${state}`).toSorted()).toEqual([
      'double completed',
      'double completed',
      'nobody waiting',
      'report completed',
    ])
    expect(await asked('jobs', 'show', bystander)).toMatchObject({ state: 'waiting', attempt: 0 })

    daemon.child.kill('SIGTERM')
    expect(await daemon.ended).toMatchObject({ code: 0 })
  })

  test('npx millrace finds it, with its version; shells have their completion', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../apps/millrace/package.json', import.meta.url), 'utf8'))
    expect(await run('npx', ['--no-install', 'millrace', '--version'], consumer.folder)).toMatchObject({ code: 0, stdout: `${version}\n` })
    for (const shell of ['bash', 'zsh', 'fish']) expect(await millrace('completion', shell)).toContain('enqueue')
  })
})

describe('what is loaded before anything is asked for', () => {
  const loads = async (specifier: string) => told(await consumer.node('loaded.mjs', specifier)) as readonly string[]

  test('@millrace/engine: a file or two of each package; no driver, no pool, no sockets, no server', async () => {
    const loaded = await loads('@millrace/engine')
    expect(new Set(loaded.map((file) => file.split('/dist/')[0]))).toEqual(
      new Set([
        '@millrace/client',
        '@millrace/core',
        '@millrace/engine',
        '@millrace/worker',
        'croner',
        'eventemitter3/index.js',
        'eventemitter3/index.mjs',
      ]),
    )
    // Two more than before the entry `./bundle`, which shares code with the others: each shared part is a file.
    expect(loaded.length).toBeLessThanOrEqual(22)
  })

  test('millrace: neither the driver, nor the configuration, nor HTTP', async () => {
    const loaded = await loads(pathToFileURL(join(consumer.folder, 'node_modules/millrace/dist/run.js')).href)
    expect(
      loaded.filter((file) =>
        /^(?:better-sqlite3|zod|hono|c12|pino|undici|@millrace\/(?:http|remote|sqlite|webhooks|exec|otel))\b/.test(file),
      ),
    ).toEqual([])
  })
})

test('on a Node that is too old it says so, and loads nothing that would crash', async ({ skip }) => {
  const old = oldNode()
  if (old === undefined) return skip('no Node older than 22.14 on this machine')
  expect(told(await run(old, ['old-node.mjs'], consumer.folder))).toEqual({
    name: 'UnsupportedRuntimeError',
    code: 'UNSUPPORTED_RUNTIME',
    message: expect.stringMatching(/^the engine does not run on Node \d+\.\d+\.\d+.+ run it on Node 22\.14 or newer/),
  })
  expect(existsSync(join(consumer.folder, 'old.db'))).toBe(false)
  for (const args of [['serve', '--http-port', '0'], ['doctor'], ['enqueue', 'a'], ['token', 'create', 'a', '--scopes', 'read']]) {
    const program = ['node_modules/.bin/millrace', ...args, '--file', 'old.db']
    expect(await run(old, program, consumer.folder), args[0]).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^millrace: the engine does not run on Node [\d.]+, .+ run it on Node 22\.14 or newer.+\(UNSUPPORTED_RUNTIME\)\n$/,
      ),
    })
  }
  expect(readdirSync(consumer.folder).filter((name) => name.startsWith('old.db'))).toEqual([])
})

/** A Node of the machine's own, from 20 (the oldest whose syntax will do) to 22.13. */
function oldNode(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/bin', '/usr/bin']
  const nodes = new Set(
    folders
      .map((folder) => join(folder, 'node'))
      .filter((file) => existsSync(file))
      .map((file) => realpathSync(file)),
  )
  return [...nodes].find((file) => {
    const [major = 0, minor = 0] = execFileSync(file, ['-p', 'process.versions.node'], { encoding: 'utf8' }).split('.').map(Number)
    return (major >= 20 && major < 22) || (major === 22 && minor < 14)
  })
}
