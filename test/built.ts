/**
 * Threads and processes that tests start load what is published of each package, but for its declarations, by the condition `millrace-dist`
 * of every package's exports: a few files instead of hundreds, whose types Node would strip in each of them. What a test file imports itself
 * is the sources.
 */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from '../build.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The environment of a process that loads what is built, and compiles it once. */
export const BUILT = { NODE_OPTIONS: '--conditions=millrace-dist', NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/millrace') }

/** Threads and processes that this one starts from now on load what is built, and compile it once. */
export function useBuilt(): void {
  process.env['NODE_OPTIONS'] = `${process.env['NODE_OPTIONS'] ?? ''} ${BUILT.NODE_OPTIONS}`
  process.env['NODE_COMPILE_CACHE'] ??= BUILT.NODE_COMPILE_CACHE
}

export async function buildAll(): Promise<void> {
  await Promise.all(
    globSync(['packages/*', 'apps/{create-millrace,dashboard,millrace}'], { cwd: ROOT }).map((folder) => bundle(join(ROOT, folder))),
  )
}
