/**
 * Checks a change: format and lint, types, the unit tests and the rules. `pnpm check` runs all of them, side by side.
 * `pnpm check --changed` asks git what has changed: it lints these files, and runs those unit tests of their packages that import them. Types and
 * rules are whole, as they look across packages. What a change does to the tests of other packages, `pnpm check` says.
 * Prints the last line of each command that passed, and the whole output of a part that failed, which comes last.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({ options: { changed: { type: 'boolean', default: false } } })

/** The root's program includes every source; the others have settings of their own. One after the other: each uses all processors. */
const PROGRAMS = ['.', 'packages/core', 'tsconfig.declarations.json', 'apps/dashboard/src/page', 'apps/docs']
const CACHE = 'node_modules/.cache/tsc'

interface Part {
  readonly name: string
  readonly commands: readonly (readonly string[])[]
}

/** A program's cache has the names and hashes of its files, so that it checks only changed ones again. It has no results of tests. */
const incremental = (program: string) => [
  ...['--noEmit', '--incremental', '--tsBuildInfoFile'],
  `${CACHE}/${program.replaceAll('/', '-').replace(/^\.$/, 'all')}.json`,
]

const git = (...args: string[]) => execFileSync('git', [...args, '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0')
/** The files that differ from the last commit, and those that git does not track yet. Some may be deleted. */
const changed = [...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')].filter((file) => file !== '')
const packages = [...new Set(changed.map((file) => /^(?:packages|apps)\/[^/]+\//.exec(file)?.[0]))].filter((path) => path !== undefined)

const CHANGED_UNITS = ['vitest', 'run', '--project', 'unit*', '--changed', 'HEAD', '--passWithNoTests', ...packages]
const TESTS = values.changed
  ? [...(packages.length > 0 ? [CHANGED_UNITS] : []), ['vitest', 'run', '--project', 'rules']]
  : [['vitest', 'run', '--project', 'unit*', '--project', 'rules']]
const linted = values.changed ? changed.filter((file) => existsSync(join(ROOT, file))) : ['.']
const LINT = linted.length > 0 ? [['biome', 'check', '--no-errors-on-unmatched', ...linted]] : []
const PARTS: readonly Part[] = [
  { name: 'tests', commands: TESTS },
  {
    name: 'lint and types',
    commands: [...LINT, ...PROGRAMS.map((program) => ['tsc', '-p', program, ...incremental(program)])],
  },
]

interface Outcome {
  readonly name: string
  readonly failed: boolean
  readonly output: string
}

/** Ended with this process: Ctrl-C reaches them too, a signal to this process alone does not. */
const running = new Set<ChildProcess>()
for (const signal of ['SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    for (const child of running) child.kill()
    process.exit(1)
  })

function run(command: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const [program = '', ...args] = command
  // On Windows, what npm puts there are scripts of the shell.
  const shell = process.platform === 'win32'
  const child = spawn(join('node_modules', '.bin', program), args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], shell })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      running.delete(child)
      resolve({ code, output })
    })
  })
}

async function outcomeOf({ name, commands }: Part): Promise<Outcome> {
  let output = ''
  let summary = ''
  for (const command of commands) {
    const ended = await run(command)
    output += ended.output
    const line = ended.output.trim().split('\n').at(-1)
    if (line) summary += `${name}: ${line}\n`
    if (ended.code !== 0) return { name, failed: true, output: `${output}${command.join(' ')} failed\n` }
  }
  return { name, failed: false, output: summary }
}

const outcomes = await Promise.all(PARTS.map(outcomeOf))
for (const { output } of outcomes.toSorted((one, other) => Number(one.failed) - Number(other.failed))) process.stdout.write(output)
process.exitCode = outcomes.some(({ failed }) => failed) ? 1 : 0
