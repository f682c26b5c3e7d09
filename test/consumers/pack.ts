/** The tarballs of what is published, made as for the registry, and installed as from it. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './run.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The command of the README and of docs/create.md. */
export const PACK = 'npx -y pnpm@12 run pack'

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
    const [command = '', ...args] = PACK.split(' ')
    // The copy is installed: it has the folders of the checkout.
    const packed = await run(command, args, copy, { hangsMs: 240_000, env: { pnpm_config_verify_deps_before_run: 'false' } })
    if (packed.code !== 0) throw new Error(`the packages could not be packed:\n${packed.stdout}${packed.stderr}`)
    cpSync(join(copy, 'packed'), destination, { recursive: true })
  } finally {
    rmSync(copy, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Returns the tarballs in a folder of some packages, such as `engine`, and of all of ours that they need. */
export function tarballsOf(folder: string, ...packages: readonly string[]): string[] {
  const needed = new Set(packages)
  for (const name of needed) {
    const { dependencies = {} } = JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'))
    for (const each of Object.keys(dependencies)) if (each.startsWith('@millrace/')) needed.add(each.slice('@millrace/'.length))
  }
  return readdirSync(folder)
    .filter((file) => needed.has(/^millrace-(\w+)-\d/.exec(file)?.[1] ?? ''))
    .map((file) => join(folder, file))
}

export async function install(folder: string, packages: readonly string[], env: Readonly<NodeJS.ProcessEnv> = {}): Promise<void> {
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  const installed = await run('npm', ['install', '--save-exact', ...quiet, ...packages], folder, { hangsMs: 240_000, env })
  if (installed.code !== 0) throw new Error(`npm could not install ${packages.join(' ')}:\n${installed.stdout}${installed.stderr}`)
}
