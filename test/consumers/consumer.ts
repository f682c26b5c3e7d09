/**
 * A project of its own, as a user has it: a new folder, the packed packages installed into it with npm, and the tools that
 * users run them with. Made once, for all tests of this folder.
 */
import { cpSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { install, pack } from './pack.ts'
import { type Ended, run } from './run.ts'

const PROGRAMS = fileURLToPath(new URL('./programs', import.meta.url))

/** Exact, and taken from npm's cache where it has them: a run does not depend on what was released this morning. */
const TOOLS = [
  '@types/node@24.19.2',
  'esbuild@0.28.2',
  'jest@30.5.2',
  'typescript@7.0.2',
  // The last that has `moduleResolution: 'node'`.
  'typescript5@npm:typescript@5.9.3',
  'vitest@5.1.1',
  'zod@4.6.7',
]

/** TypeScript 5 takes 40 s for the declarations of all packages if the machine is busy. */
const COMPILING = { hangsMs: 240_000 }

export interface Consumer {
  readonly folder: string
  /** File names of the packed packages, beside the project's own files. */
  readonly tarballs: readonly string[]
  /** Runs a file of the folder with this Node. */
  node(...args: readonly string[]): Promise<Ended>
  /** Runs the compiler of TypeScript 7, or of another package. Both link the same command. */
  tsc(args: readonly string[], compiler?: string): Promise<Ended>
  /** Runs a tool that was installed into the folder. */
  tool(name: string, ...args: readonly string[]): Promise<Ended>
  write(name: string, text: string): void
  remove(): void
}

export async function createConsumer(): Promise<Consumer> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-consumer-')))
  cpSync(PROGRAMS, folder, { recursive: true })
  const consumer: Consumer = {
    folder,
    get tarballs() {
      return readdirSync(folder).filter((name) => name.endsWith('.tgz'))
    },
    node: (...args) => run(process.execPath, args, folder),
    tsc: (args, compiler = 'typescript') => run(process.execPath, [`node_modules/${compiler}/bin/tsc`, ...args], folder, COMPILING),
    tool: (name, ...args) => run(join(folder, 'node_modules/.bin', name), args, folder),
    write: (name, text) => writeFileSync(join(folder, name), text),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
  consumer.write('package.json', JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  await Promise.all([pack(folder), install(folder, TOOLS)])
  await install(
    folder,
    consumer.tarballs.filter((name) => !name.startsWith('create-')).map((name) => `./${name}`),
  )
  return consumer
}
