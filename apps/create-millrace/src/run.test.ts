import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { run } from './run.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-create-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

interface Options {
  readonly cwd?: string
  readonly env?: Record<string, string>
  readonly node?: string
  /** Typed on a terminal. Without it there is none. */
  readonly typed?: string
}

async function create(args: readonly string[], { cwd = temporaryFolder(), env = {}, node = '24.0.0', typed }: Options = {}) {
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== undefined })
  const stdout = Object.assign(new PassThrough(), { isTTY: typed !== undefined })
  if (typed !== undefined) stdin.write(typed)
  let said = ''
  let errors = ''
  stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const stderr = {
    write: (text: string) => {
      errors += text
    },
  }
  const code = await run(args, { stdin, stdout, stderr, env, versions: { node }, cwd: () => cwd })
  return { code, cwd, said, errors, path: (...names: string[]) => join(cwd, ...names) }
}

const EMBEDDED = ['my-app', '--template', 'embedded', '--no-install']

test('a project has the files of its template, its name, and the version of this package', async () => {
  const { code, errors, said, path } = await create(EMBEDDED)
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  const manifest = JSON.parse(readFileSync(path('my-app/package.json'), 'utf8'))
  expect(manifest).toMatchObject({
    name: 'my-app',
    dependencies: { '@millrace/engine': `^${version}` },
    devDependencies: { '@millrace/testkit': `^${version}` },
  })
  expect(readFileSync(path('my-app/README.md'), 'utf8')).toMatch(/^# my-app\n/)
  expect(readdirSync(path('my-app')).toSorted()).toEqual(['.gitignore', 'README.md', 'package.json', 'src', 'tsconfig.json'])
  expect(said).toContain(`Created my-app from the template embedded, in ${path('my-app')}\n`)
  expect(said).toMatch(/ {2}cd my-app\n {2}npm install\n {2}npm test +# runs its tests\n {2}npm start +# runs the jobs/)
  // Nothing else is left, and the folder is as any that the user makes.
  mkdirSync(path('bystander'))
  expect(readdirSync(path()).toSorted()).toEqual(['bystander', 'my-app'])
  expect(statSync(path('my-app')).mode).toBe(statSync(path('bystander')).mode)
})

test('a folder that is there and empty, or only under version control, is filled', async () => {
  const cwd = join(temporaryFolder(), 'here')
  mkdirSync(join(cwd, '.git'), { recursive: true })
  const { code, said } = await create(['.', '-t', 'daemon', '--no-install'], { cwd })
  expect(code).toBe(0)
  expect(JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'))).toMatchObject({ name: 'here' })
  expect(readdirSync(join(cwd, '..'))).toEqual(['here'])
  expect(said).not.toContain('cd ')
})

test('a folder that is there is filled from within: its parent, which may be another disk, is not written', async () => {
  const parent = temporaryFolder()
  mkdirSync(join(parent, 'here'))
  utimesSync(parent, 1, 1)
  const { code } = await create(['.', '-t', 'embedded', '--no-install'], { cwd: join(parent, 'here') })
  expect({ code, changed: statSync(parent).mtimeMs }).toEqual({ code: 0, changed: 1000 })
  expect(readdirSync(join(parent, 'here')).toSorted()).toEqual(['.gitignore', 'README.md', 'package.json', 'src', 'tsconfig.json'])
})

test('a folder with files is refused, and stays as it is', async () => {
  const cwd = temporaryFolder()
  mkdirSync(join(cwd, 'my-app'))
  for (const name of ['a', 'b', 'c', 'd']) writeFileSync(join(cwd, 'my-app', name), name)
  expect(await create(EMBEDDED, { cwd })).toMatchObject({
    code: 1,
    errors: `create-millrace: ${join(cwd, 'my-app')} is not empty: it has a, b, c, and 1 more. Choose another folder, or empty this one. (FOLDER_NOT_EMPTY)\n`,
  })
  expect(readdirSync(join(cwd, 'my-app'))).toEqual(['a', 'b', 'c', 'd'])
  writeFileSync(join(cwd, 'file'), '')
  expect(await create(['file', '-t', 'daemon'], { cwd })).toMatchObject({ code: 1, errors: expect.stringContaining('file is a file.') })
})

test('a folder that cannot be written: nothing of the project is there', async () => {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'file'), 'kept')
  const { code, errors } = await create(['file/my-app', '-t', 'embedded', '--no-install'], { cwd })
  expect({ code, errors }).toEqual({
    code: 1,
    errors: expect.stringMatching(/my-app cannot be created: EEXIST.+Nothing of the project is there\. \(NOT_CREATED\)/),
  })
  expect(readFileSync(join(cwd, 'file'), 'utf8')).toBe('kept')
  expect(readdirSync(cwd)).toEqual(['file'])
})

test.for([
  [['my-app'], 2, 'choose a template with --template: embedded, web-worker, daemon. See --help. (USAGE)'],
  [[], 2, 'name a folder for the project, for example my-app. See --help. (USAGE)'],
  [
    ['my-app', '-t', 'embeded'],
    2,
    "there is no template 'embeded'; did you mean 'embedded'? Choose one of embedded, web-worker, daemon. (USAGE)",
  ],
  [
    ['my-app', '-t', 'kubernetes-operator'],
    2,
    "there is no template 'kubernetes-operator'. Choose one of embedded, web-worker, daemon. (USAGE)",
  ],
  [['my-app', '--templat', 'daemon'], 2, '--templat is unknown; did you mean --template? See --help. (USAGE)'],
  [['my-app', '-x'], 2, '-x is unknown. See --help. (USAGE)'],
  [['my-app', '--template'], 2, '--template requires a value. See --help. (USAGE)'],
  [['my-app', '-t', 'daemon', '--no-install=1'], 2, "--no-install takes no value, got '1'. (USAGE)"],
  // npm has taken the flag for itself.
  [
    ['my-app', 'daemon'],
    2,
    'name one folder, got my-app daemon. npm passes flags on only after --: npm create millrace@latest my-app -- --template daemon (USAGE)',
  ],
  [
    ['My App', '-t', 'daemon'],
    2,
    "'My App' is not a valid package name: it must consist of a-z, 0-9, '-', '.', '_' and '~', and must not begin with '.' or '_'. Name the package with --name my-app, or name the folder so. (USAGE)",
  ],
  [
    ['http', '-t', 'daemon'],
    2,
    "'http' is not a valid package name: Node or npm has that name. Name the package with --name http-app, or name the folder so. (USAGE)",
  ],
  [
    ['a', '-t', 'daemon', '--name', '日本'],
    2,
    "'日本' is not a valid package name: it must consist of a-z, 0-9, '-', '.', '_' and '~', and must not begin with '.' or '_'. (USAGE)",
  ],
  [
    ['a', '-t', 'daemon', '--name', 'a'.repeat(215)],
    2,
    `'${'a'.repeat(215)}' is not a valid package name: it must have at most 214 characters, got 215. Name the package with --name ${'a'.repeat(214)}, or name the folder so. (USAGE)`,
  ],
] as const)('%j is refused, and creates nothing', async ([args, code, message]) => {
  const created = await create(args)
  expect(created).toMatchObject({ code, errors: `create-millrace: ${message}\n`, said: '' })
  expect(readdirSync(created.cwd)).toEqual([])
})

test('a name of its own, with a scope, in a folder of folders', async () => {
  const { code, path } = await create(['apps/Queue One', '-t', 'web-worker', '--name', '@shop/queue', '--no-install'])
  expect(code).toBe(0)
  expect(JSON.parse(readFileSync(path('apps/Queue One/package.json'), 'utf8'))).toMatchObject({ name: '@shop/queue' })
})

test('a Node that cannot run TypeScript is refused', async () => {
  const created = await create(EMBEDDED, { node: '22.17.1' })
  expect(created).toMatchObject({
    code: 1,
    errors:
      'create-millrace: the project requires Node 22.18 or newer, because Node runs its TypeScript files; this is Node 22.17.1 (UNSUPPORTED_RUNTIME)\n',
  })
  expect(readdirSync(created.cwd)).toEqual([])
  expect(await create(EMBEDDED, { node: '22.18.0' })).toMatchObject({ code: 0 })
})

test('--help and --version', async () => {
  expect(await create(['--version'])).toMatchObject({ code: 0, said: `${version}\n` })
  const { said } = await create(['-h'])
  for (const part of ['--template', '--no-install', 'embedded', 'web-worker', 'daemon']) expect(said).toContain(part)
})

test.for(['--yes', '-y'])('%s: what is left out has its default, and nothing is asked, on a terminal or without one', async (flag) => {
  for (const typed of [undefined, 'other\n']) {
    const cwd = temporaryFolder()
    expect(await create([flag, '--no-install'], { cwd, ...(typed !== undefined && { typed }) })).toMatchObject({
      code: 0,
      said: expect.stringMatching(/^Created millrace-app from the template embedded/),
    })
    expect(readdirSync(cwd)).toEqual(['millrace-app'])
  }
  const cwd = temporaryFolder()
  expect(await create(['app', '-t', 'daemon', flag, '--no-install'], { cwd })).toMatchObject({
    said: expect.stringContaining('Created app from the template daemon'),
  })
})

test('on a terminal, what is left out is asked for; a wrong answer is asked again', async () => {
  const { code, said, path } = await create(['--no-install'], { typed: 'My App\nmy-app\nnothing\n2\n' })
  expect(code).toBe(0)
  expect(said).toContain('Folder (millrace-app): ')
  expect(said).toContain("'My App' is not a valid package name")
  expect(said).toContain("there is no template 'nothing'")
  expect(said).toContain('Created my-app from the template web-worker')
  expect(existsSync(path('my-app/src/server.ts'))).toBe(true)
})

test('on a terminal, a wrong name is refused before any question', async () => {
  const created = await create(['--name', 'My App', '--no-install'], { typed: 'my-app\n' })
  expect(created).toMatchObject({ code: 2, errors: expect.stringContaining("'My App' is not a valid package name"), said: '' })
  expect(readdirSync(created.cwd)).toEqual([])
})

test('on a terminal, Enter takes what is suggested, and only what is missing is asked for', async () => {
  const all = await create(['--no-install'], { typed: '\n\n' })
  expect(all).toMatchObject({ code: 0, said: expect.stringContaining('Created millrace-app from the template embedded') })
  const one = await create(['my-app', '--no-install'], { typed: 'daemon\n' })
  expect(one).toMatchObject({ code: 0, said: expect.not.stringContaining('Folder') })
})

test('on a terminal, Ctrl-C at a question creates nothing', async () => {
  const created = await create(['my-app'], { typed: '\u0003' })
  expect(created).toMatchObject({ code: 130, errors: 'create-millrace: interrupted: nothing was created (INTERRUPTED)\n' })
  expect(readdirSync(created.cwd)).toEqual([])
})

test('the package manager that runs it is named, and gets its files', async () => {
  const pnpm = await create(['my-app', '-t', 'web-worker', '--no-install'], {
    env: { npm_config_user_agent: 'pnpm/12.21.0 npm/? node/v24.0.0' },
  })
  expect(pnpm.said).toMatch(/ {2}pnpm install\n {2}pnpm test +# .*\n {2}pnpm start +# .*\n {2}pnpm worker +#/)
  const yarn = await create(['my-app', '-t', 'embedded', '--no-install'], {
    env: { npm_config_user_agent: 'yarn/4.18.1 npm/? node/v24.0.0' },
  })
  expect(yarn.said).toMatch(/ {2}yarn install\n {2}yarn test +#/)
  expect(readFileSync(yarn.path('my-app/.yarnrc.yml'), 'utf8')).toBe('nodeLinker: node-modules\n')
  const bun = await create(['my-app', '-t', 'embedded', '--no-install'], {
    env: { npm_config_user_agent: 'bun/1.4.5 npm/? node/v24.3.0 linux x64' },
  })
  expect(bun.said).toMatch(/ {2}bun install\n {2}bun run test +#/)
})

test('an install that fails says that the project is complete', async () => {
  const folder = temporaryFolder()
  const manager = join(folder, 'manager.cjs')
  writeFileSync(manager, 'process.exit(7)')
  const created = await create(['my-app', '-t', 'embedded'], {
    env: { npm_config_user_agent: 'npm/11.0.0 node/v24.0.0', npm_execpath: manager },
  })
  expect(created).toMatchObject({
    code: 1,
    errors: `create-millrace: npm install ended with 7: see above. The project is complete, but its packages are not installed. Run npm install in ${created.path('my-app')}. It needs the network, unless its cache has every package. (INSTALL)\n`,
  })
  expect(existsSync(created.path('my-app/package.json'))).toBe(true)
})
