/** The folder of the built page: in the package, or, in a checkout, in a cache that follows the sources. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The folder of the package: this file lies in its `src`, or is bundled into its `dist`. */
const PACKAGE = fileURLToPath(new URL('..', import.meta.url))
const SOURCES = ['src/page/**/*.{ts,tsx,css,html,svg}', 'vite.config.ts', 'build.ts', 'package.json', '../../pnpm-lock.yaml']

export async function pageFolder(): Promise<string> {
  if (!existsSync(join(PACKAGE, 'src/page'))) return join(PACKAGE, 'dist/page')
  const cache = join(PACKAGE, '../../node_modules/.cache/millrace/dashboard')
  const folder = join(cache, hashOfSources())
  if (!existsSync(folder)) await buildInto(cache, folder)
  return folder
}

function hashOfSources(): string {
  const hash = createHash('sha256')
  const files = globSync(SOURCES, { cwd: PACKAGE }).filter((file) => !file.endsWith('.test.ts'))
  for (const file of files.toSorted())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(PACKAGE, file)))
      .update('\0')
  return hash.digest('hex').slice(0, 32)
}

/** Another process may build the same at the same time: the first one that is done counts. */
async function buildInto(cache: string, folder: string): Promise<void> {
  const before = existsSync(cache) ? readdirSync(cache).filter((name) => !name.includes('.')) : []
  const unfinished = `${folder}.${process.pid}`
  mkdirSync(cache, { recursive: true })
  try {
    await promisify(execFile)(process.execPath, [join(PACKAGE, 'build.ts'), unfinished], { cwd: PACKAGE, env: ENVIRONMENT })
    renameSync(unfinished, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  for (const name of before) rmSync(join(cache, name), { recursive: true, force: true })
}

/** Vite takes the page's mode from `NODE_ENV`, which is "test" under a test runner. */
const ENVIRONMENT = { ...process.env, NODE_ENV: 'production' }
