// `npm ci`, and `npm install` from a lock, on a machine that cannot compile: no Python, no compiler. docs/decisions/0074.
import { copyFileSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryFolder } from '../temporary.ts'
import { install, pack } from './pack.ts'
import { type Registry, startRegistry } from './registry.ts'
import { type Ended, run } from './run.ts'

const LONG = { timeout: 600_000 }
const PROGRAM = fileURLToPath(new URL('programs/common.cjs', import.meta.url))
const PLATFORM = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
/** Exact: a run does not depend on what was released this morning. */
const NPMS = { 10: 'npm@10.9.9', 11: 'npm@11.21.2' } as const
const NODE_22 = `node-${PLATFORM}@22.23.3`

let folder: string
let served: Registry

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-lock-'))
  const [tools, packed] = [join(folder, 'tools'), join(folder, 'packed')]
  for (const made of [tools, packed]) mkdirSync(made)
  writeFileSync(join(tools, 'package.json'), '{}')
  const npms = Object.entries(NPMS).map(([major, version]) => `npm${major}@npm:${version}`)
  await Promise.all([pack(packed), packNative(packed), install(tools, [...npms, `node22@npm:${NODE_22}`])])
  served = await startRegistry(packed)
}, 600_000)

afterAll(async () => {
  await served?.close()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})

/** Packs a package like better-sqlite3 13: it brings its binaries, says `gypfile: false`, and has a `binding.gyp` beside it. */
async function packNative(packed: string): Promise<void> {
  const sources = join(folder, 'native')
  mkdirSync(sources)
  writeFileSync(join(sources, 'package.json'), JSON.stringify({ name: 'native', version: '1.0.0', gypfile: false }))
  writeFileSync(join(sources, 'binding.gyp'), JSON.stringify({ targets: [{ target_name: 'native', type: 'none' }] }))
  expect(await run('npm', ['pack', '--pack-destination', packed], sources)).toMatchObject({ code: 0 })
}

interface Machine {
  readonly npm: keyof typeof NPMS
  readonly node: 22 | 24
}

interface Project {
  readonly folder: string
  npm(...args: readonly string[]): Promise<Ended>
  node(...args: readonly string[]): Promise<Ended>
  emptied(): Project
}

/** A project on a machine whose path has Node and a shell, and no other program. */
function createProject({ npm, node }: Machine): Project {
  const project = temporaryFolder()
  const bin = temporaryFolder()
  const program = node === 24 ? process.execPath : join(folder, 'tools/node_modules/node22/bin/node')
  symlinkSync(program, join(bin, 'node'))
  symlinkSync('/bin/sh', join(bin, 'sh'))
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'project', private: true }))
  const env = {
    ...{ PATH: bin, PYTHON: undefined, npm_config_python: undefined, NODE_GYP_FORCE_PYTHON: undefined },
    ...{ npm_config_registry: served.url, npm_config_cache: join(folder, 'cache'), npm_config_audit: 'false', npm_config_fund: 'false' },
  }
  const runs = (...args: readonly string[]) => run(program, args, project, { hangsMs: 240_000, env })
  const made: Project = {
    folder: project,
    npm: (...args) => runs(join(folder, `tools/node_modules/npm${npm}/bin/npm-cli.js`), ...args),
    node: runs,
    emptied() {
      rmSync(join(project, 'node_modules'), { recursive: true })
      return made
    },
  }
  return made
}

const MACHINES = [10, 11].flatMap((npm) => [22, 24].map((node) => ({ npm, node }))) as readonly Machine[]

test('the machine cannot compile: a package with a binding.gyp is installed, and not from a lock', LONG, async () => {
  const project = createProject({ npm: 11, node: 24 })
  expect(await project.npm('install', 'native')).toMatchObject({ code: 0 })
  for (const args of [['ci'], ['install']])
    expect(await project.npm(...args)).toMatchObject({ code: 1, stderr: expect.stringMatching(/node-gyp rebuild.*find Python/s) })
})

test.for(MACHINES)('npm $npm on Node $node: an engine runs a job after each kind of install', LONG, async (machine) => {
  const project = createProject(machine)
  copyFileSync(PROGRAM, join(project.folder, 'app.cjs'))
  const [, major] = /^v(\d+)\./.exec((await project.node('--version')).stdout) ?? []
  expect(`${machine.node}`).toBe(major)
  expect((await project.npm('--version')).stdout).toMatch(new RegExp(`^${machine.npm}\\.`))

  const installs = [() => project.npm('install', '@millrace/engine'), () => project.npm('ci'), () => project.emptied().npm('install')]
  for (const installed of installs) {
    const { code, stdout, stderr } = await installed()
    expect(code, stdout + stderr).toBe(0)
    expect(stdout + stderr).not.toMatch(/install-?scripts|gyp/)
    expect(await project.node('app.cjs')).toMatchObject({ code: 0, stdout: '42\n' })
  }
})

test('every published package is installed from a lock, and brings none that compiles', LONG, async () => {
  const project = createProject({ npm: 11, node: 24 })
  const names = served.names.filter((name) => name !== 'native')
  expect(names).toEqual(expect.arrayContaining(['millrace', 'create-millrace', '@millrace/sqlite', '@millrace/nestjs']))
  for (const args of [['install', ...names], ['ci']]) {
    const { code, stdout, stderr } = await project.npm(...args)
    expect(code, stdout + stderr).toBe(0)
  }
  expect(globSync('node_modules/**/binding.gyp', { cwd: project.folder })).toEqual([])
  expect(await project.node('node_modules/millrace/dist/main.js', 'enqueue', 'hello', '--file', 'jobs.db')).toMatchObject({ code: 0 })
})
