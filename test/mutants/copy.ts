/** A copy of the checkout with mutants planted in it. Its dependencies are those of the checkout. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { type Mutant, type Parsed, plant } from './plant.ts'

export interface Planted {
  /** The copy's root. */
  readonly root: string
  /** By number. */
  readonly mutants: readonly Mutant[]
}

/** Copies what git knows, or would know, of the checkout at `root`. */
export function copyCheckout(root: string): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-mutants-')))
  const list = execFileSync('git', ['ls-files', '-coz', '--exclude-standard'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
  for (const file of list.split('\0')) {
    if (file === '' || !existsSync(join(root, file))) continue
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file))
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  // Their links are relative, so a package of the copy finds those of the copy.
  for (const folder of workspaces(root)) {
    const from = join(root, folder, 'node_modules')
    if (existsSync(from)) cpSync(from, join(copy, folder, 'node_modules'), { recursive: true, verbatimSymlinks: true })
  }
  return copy
}

function workspaces(root: string): string[] {
  const within = ['packages', 'apps'].flatMap((parent) => readdirSync(join(root, parent)).map((name) => join(parent, name)))
  return [...within, 'test', 'bench']
}

/** Plants those of the parsed files' mutants that are wanted; a mutant's number is its place in what is returned. */
export function plantAll(copy: string, files: readonly Parsed[], wanted: ReadonlySet<Mutant>): Planted {
  const mutants: Mutant[] = []
  for (const parsed of files) {
    const from = relative(dirname(join(copy, parsed.file)), join(copy, 'test/mutants/mutant.ts'))
    const idOf = (index: number) => {
      const mutant = parsed.mutants[index] as Mutant
      return wanted.has(mutant) ? mutants.push(mutant) - 1 : undefined
    }
    writeFileSync(join(copy, parsed.file), plant(parsed, idOf, from))
  }
  setUp(copy)
  return { root: copy, mutants }
}

/** Each test's process learns its name before anything of it is loaded: its threads and child processes inherit it. */
function setUp(copy: string): void {
  appendFileSync(join(copy, 'test/quiet.ts'), "\nimport './mutants/mutant.ts'\n")
}
