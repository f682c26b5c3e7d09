/** The tarballs of what is published, made as for the registry, and installed as from it. */
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './run.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What is published, each with all that it needs. */
const PUBLISHED = [
  '@millrace/testkit',
  '@millrace/outbox',
  '@millrace/nestjs',
  '@millrace/fastify',
  '@millrace/dashboard',
  'millrace',
  'create-millrace',
]

/** Built by their own `prepack`, from a copy of the sources: runs side by side do not take each other's `dist` away. */
export async function pack(destination: string): Promise<void> {
  const copy = mkdtempSync(join(tmpdir(), 'millrace-pack-'))
  try {
    for (const file of ['.pnpmfile.mjs', 'LICENSE', 'build.ts', 'package.json', 'pnpm-workspace.yaml', 'tsconfig.base.json'])
      cpSync(join(ROOT, file), join(copy, file))
    const filter = (path: string) => basename(path) !== 'dist'
    for (const folder of ['packages', 'apps/create-millrace', 'apps/dashboard', 'apps/millrace'])
      cpSync(join(ROOT, folder), join(copy, folder), { recursive: true, verbatimSymlinks: true, filter })
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    const those = ['--recursive', ...PUBLISHED.flatMap((name) => ['--filter-prod', `${name}...`]), '--config.verifyDepsBeforeRun=false']
    const packed = await run('npx', ['-y', 'pnpm@12', ...those, 'pack', '--pack-destination', destination], copy, { hangsMs: 240_000 })
    if (packed.code !== 0) throw new Error(`the packages could not be packed:\n${packed.stdout}${packed.stderr}`)
  } finally {
    rmSync(copy, { recursive: true, force: true, maxRetries: 3 })
  }
}

export async function install(folder: string, packages: readonly string[]): Promise<void> {
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  const installed = await run('npm', ['install', '--save-exact', ...quiet, ...packages], folder, { hangsMs: 240_000 })
  if (installed.code !== 0) throw new Error(`npm could not install ${packages.join(' ')}:\n${installed.stdout}${installed.stderr}`)
}
