/** What is known of each program that a snippet starts: whether the thing is there that the command names. It is not run. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { argumentsOf } from '../../apps/create-millrace/src/arguments.ts'
import { TEMPLATES } from '../../apps/create-millrace/src/templates.ts'
import { ROOT } from './blocks.ts'
import { parseMillrace } from './millrace.ts'

/** Where a command stands: the page, the block, and the folder into which the commands before it have changed. */
export interface Standing {
  readonly page: string
  readonly text: string
  readonly folder: string
}

interface Manifest {
  readonly name: string
  readonly scripts?: Readonly<Record<string, string>>
  readonly [dependencies: string]: unknown
}

const manifestOf = (path: string): Manifest => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
const MANIFESTS = globSync(
  ['package.json', '{bench,test}/package.json', '{apps,packages}/*/package.json', 'apps/examples/*/package.json'],
  {
    cwd: ROOT,
  },
).map(manifestOf)
const OURS = new Set(MANIFESTS.map(({ name }) => name))
/** Packages of others that a test here uses. */
const THEIRS = new Set(
  MANIFESTS.flatMap((manifest) =>
    ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'].flatMap((kind) => Object.keys(manifest[kind] ?? {})),
  ),
)

const SCRIPTS = manifestOf('package.json').scripts as Readonly<Record<string, string>>

function assert(met: boolean, message: string): asserts met {
  if (!met) throw new Error(message)
}

function assertFile(path: string): void {
  assert(globSync(path, { cwd: ROOT }).length > 0, `there is no ${path}`)
}

function npm([command = '', ...args]: readonly string[], standing: Standing): void {
  const behind = args.slice(args.indexOf('--') + 1)
  if (command === 'create') create(behind, args[0])
  else if (command === 'exec') create(behind.slice(1), behind[0])
  else if (command === 'install') install(args)
  else runScript(command === 'run' ? (args[0] as string) : command, standing)
}

function install(args: readonly string[]): void {
  const packages = args.filter((word, at) => !word.startsWith('-') && args[at - 1] !== '--prefix' && !word.includes('.tgz'))
  // `name@5` is a version of it.
  for (const name of packages.map((each) => each.replace(/(?!^)@\d+$/, '')))
    assert(OURS.has(name) || THEIRS.has(name) || isBenched(name), `nothing here is, or uses, the package ${name}`)
}

function runScript(script: string, { page, folder }: Standing): void {
  const place = [folder, dirname(page)].find((each) => existsSync(join(ROOT, each, 'package.json')))
  // Those of a project that is not made yet are those of its template.
  const paths = place === undefined ? TEMPLATES.map(({ name }) => `apps/create-millrace/templates/${name}`) : [place]
  for (const path of paths)
    assert(manifestOf(posix.join(path, 'package.json')).scripts?.[script] !== undefined, `no script ${script} in ${path}/package.json`)
}

/** Packages that only bench/src/peers looks for, in a folder of their own. */
const isBenched = (name: string): boolean =>
  globSync('bench/src/peers/*.ts', { cwd: ROOT }).some((file) => readFileSync(join(ROOT, file), 'utf8').includes(`'${name}'`))

function create(args: readonly string[], program: string | undefined): void {
  assert(/^(?:create-millrace|millrace@latest)$/.test(program ?? ''), `create-millrace makes projects, not ${program}`)
  const { template } = argumentsOf(args)
  assert(template === undefined || TEMPLATES.some(({ name }) => name === template), `there is no template ${template}`)
}

function npx(words: readonly string[], standing: Standing): void {
  const [program, ...args] = words[0] === '-y' ? words.slice(1) : words
  if (program === 'millrace') parseMillrace(args)
  else if (program === 'pnpm@12') pnpm(args)
  else if (program === 'tsc') assertFile(join(args[1] as string, 'tsconfig.json'))
  else if (program === 'esbuild') assert(args.includes('--bundle'), 'esbuild bundles')
  else if (program === 'vitest') assertFile(args[args.indexOf('--root') + 1] as string)
  else throw new Error(`npx ${program} on ${standing.page}: add it to test/snippets/programs.ts`)
}

function pnpm(words: readonly string[]): void {
  const args = words[0] === 'run' ? words.slice(1) : words
  for (const name of filtersOf(args)) assert(OURS.has(name), `there is no package ${name}`)
  const script = args.find((word, at) => !word.startsWith('-') && !args[at - 1]?.startsWith('--filter')) ?? ''
  if (script === 'millrace') return void parseMillrace(args.slice(1))
  if (script === 'install') return
  const filtered = filtersOf(args).length > 0
  const manifests = filtered ? MANIFESTS.filter(({ name }) => filtersOf(args).includes(name)) : [{ scripts: SCRIPTS }]
  for (const { scripts } of manifests) assert(scripts?.[script] !== undefined, `there is no script ${script}`)
  if (!filtered) checkFlags(script, args)
}

const filtersOf = (args: readonly string[]): string[] =>
  args.flatMap((word, at) => (args[at - 1]?.startsWith('--filter') ? [word.replace(/\.\.\.$/, '')] : []))

/** The flags of a script are in its file, or in one that it imports. */
function checkFlags(script: string, args: readonly string[]): void {
  const [file] = /\S+\.ts/.exec(SCRIPTS[script] as string) ?? []
  const given = args.filter((word) => word.startsWith('--'))
  if (given.length === 0) return
  assert(file !== undefined, `${script} takes no flags of its own`)
  const folder = dirname(file)
  const code = [file, ...globSync(`${folder}/{flags,arguments,options}.ts`, { cwd: ROOT }), ...deployed(file)]
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join('\n')
  for (const flag of given) {
    const name = flag.slice(2).split('=')[0] as string
    const written = new RegExp(`(?:['"]${name}['"]|(?:^|[\\s{,])${name}): \\{|--${name}\\b`)
    assert(written.test(code), `${script} has no flag ${flag}`)
  }
}

/** Those that the file of a script imports from beside it. */
const deployed = (file: string): string[] =>
  [...readFileSync(join(ROOT, file), 'utf8').matchAll(/from '(\.[^']+)'/g)].map(([, path = '']) => posix.join(dirname(file), path))

function node(words: readonly string[], { text }: Standing): void {
  const file = words.find((word) => !word.startsWith('-')) as string
  if (text.includes(`cat > ${file} `)) return
  // What a compiler makes, or npm installs, is not there yet; and jest is that of test/consumers.
  if (!/(?:^|\/)(?:dist|node_modules)\//.test(file)) assertFile(file)
}

function docker(words: readonly string[]): void {
  const at = words.indexOf('-f')
  if (words[0] === 'build') assertFile(words[at + 1] as string)
  if (words[0] === 'run') {
    const [image, ...args] = words.slice(words.findLastIndex((word) => word.startsWith('--')) + 2)
    assert(image === 'millrace', `the image is millrace, not ${image}`)
    parseMillrace(args.length === 0 ? ['serve'] : args)
  }
}

function kubectl(words: readonly string[]): void {
  if (words[0] === 'apply') assertFile(join(words[words.indexOf('-k') + 1] as string, 'kustomization.yaml'))
  else assert(words.slice(0, 3).join(' ') === 'create secret generic', `kubectl ${words.join(' ')}: add it to test/snippets/programs.ts`)
}

type Check = (words: readonly string[], standing: Standing) => void

/** By the first word of a command. Those of the system are only run, by shell.proof.test.ts. */
export const PROGRAMS: Readonly<Record<string, Check>> = {
  millrace: (words) => void parseMillrace(words),
  npm,
  npx,
  pnpm,
  node,
  docker,
  kubectl,
  pip: ([, folder]) => assertFile(join(folder as string, 'pyproject.toml')),
}
