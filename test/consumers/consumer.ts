/**
 * A project of its own, as a user has it: a new folder, the packed packages installed into it with npm, and the tools that
 * users run them with. Made once, for all tests of this folder.
 */
import { cpSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Ended, run } from './run.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PROGRAMS = fileURLToPath(new URL('./programs', import.meta.url))

/** Exact, and taken from npm's cache where it has them: a run does not depend on what was released this morning. */
const TOOLS = ['@types/node@24.19.2', 'esbuild@0.28.2', 'jest@30.5.2', 'typescript@7.0.2', 'vitest@5.1.1', 'zod@4.6.7']

export interface Consumer {
  readonly folder: string
  /** File names of the packed packages, beside the project's own files. */
  readonly tarballs: readonly string[]
  /** Runs a file of the folder with this Node. */
  node(...args: readonly string[]): Promise<Ended>
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
    tool: (name, ...args) => run(join(folder, 'node_modules/.bin', name), args, folder),
    write: (name, text) => writeFileSync(join(folder, name), text),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
  consumer.write('package.json', JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  await Promise.all([pack(folder), install(folder, TOOLS)])
  await install(
    folder,
    consumer.tarballs.map((name) => `./${name}`),
  )
  return consumer
}

/** What is published, each with all that it needs. */
const PUBLISHED = ['@millrace/testkit', '@millrace/outbox', 'millrace']

/** Built by their own `prepack`, from a copy of the sources: runs side by side do not take each other's `dist` away. */
async function pack(destination: string): Promise<void> {
  const copy = mkdtempSync(join(tmpdir(), 'millrace-pack-'))
  try {
    for (const file of ['LICENSE', 'build.ts', 'package.json', 'pnpm-workspace.yaml', 'tsconfig.base.json'])
      cpSync(join(ROOT, file), join(copy, file))
    const filter = (path: string) => basename(path) !== 'dist'
    for (const folder of ['packages', 'apps/millrace'])
      cpSync(join(ROOT, folder), join(copy, folder), { recursive: true, verbatimSymlinks: true, filter })
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    const those = ['--recursive', ...PUBLISHED.flatMap((name) => ['--filter-prod', `${name}...`]), '--config.verifyDepsBeforeRun=false']
    const packed = await run('npx', ['-y', 'pnpm@12', ...those, 'pack', '--pack-destination', destination], copy, 240_000)
    if (packed.code !== 0) throw new Error(`the packages could not be packed:\n${packed.stdout}${packed.stderr}`)
  } finally {
    rmSync(copy, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function install(folder: string, packages: readonly string[]): Promise<void> {
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  const installed = await run('npm', ['install', '--save-exact', ...quiet, ...packages], folder, 240_000)
  if (installed.code !== 0) throw new Error(`npm could not install ${packages.join(' ')}:\n${installed.stdout}${installed.stderr}`)
}
