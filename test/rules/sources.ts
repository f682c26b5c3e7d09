/** What the rules look at: the source files of every package and app, their imports, and their text without comments. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Import {
  readonly specifier: string
  /** Gone once the types are stripped. */
  readonly typeOnly: boolean
}

export interface Source {
  /** From the root, with forward slashes. */
  readonly path: string
  /** The folder in packages/ or apps/. */
  readonly package: string
  readonly kind: 'packages' | 'apps'
  readonly text: string
  /** Without comments; strings are as they were. */
  readonly code: string
  readonly imports: readonly Import[]
  /** A test, or made for tests alone: not in what is shipped. */
  readonly testing: boolean
}

const SOURCE = /\.(ts|tsx|mts|js|mjs)$/

export function walk(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules' && entry.name !== 'dist')
    .flatMap((entry) => (entry.isDirectory() ? walk(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort()
}

export function pathOf(file: string): string {
  return relative(ROOT, file).split(sep).join('/')
}

function read(kind: Source['kind'], name: string, file: string): Source {
  const path = pathOf(file)
  const text = readFileSync(file, 'utf8')
  const code = withoutComments(text)
  const testing = name === 'testkit' || /\.test\.tsx?$/.test(path) || path.includes('/src/testing/')
  return { path, package: name, kind, text, code, imports: importsOf(code), testing }
}

function sourcesOf(kind: Source['kind']): Source[] {
  const folder = join(ROOT, kind)
  return readdirSync(folder)
    .filter((name) => statSync(join(folder, name)).isDirectory())
    .flatMap((name) =>
      walk(join(folder, name, 'src'))
        .filter((file) => SOURCE.test(file))
        .map((file) => read(kind, name, file)),
    )
}

/** Of every package and app. */
export const SOURCES: readonly Source[] = [...sourcesOf('packages'), ...sourcesOf('apps')]

/** What is shipped to users of the packages. */
export const SHIPPED = SOURCES.filter((source) => source.kind === 'packages' && !source.testing)

/** Every other TypeScript file of the repository: tests of the whole, benchmarks, settings. */
export function elsewhere(): { readonly path: string; readonly imports: readonly Import[] }[] {
  return within('test', 'bench')
}

/** Every program of apps/examples. */
export const examples = () => within('apps/examples')

function within(...folders: readonly string[]): { readonly path: string; readonly imports: readonly Import[] }[] {
  return folders
    .flatMap((folder) => walk(join(ROOT, folder)))
    .filter((file) => SOURCE.test(file))
    .map((file) => ({ path: pathOf(file), imports: importsOf(withoutComments(readFileSync(file, 'utf8'))) }))
}

/** Comments become spaces, so that lines stay where they are; what looks like one within a string stays. */
export function withoutComments(text: string): string {
  const token = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g
  return text.replace(token, (found) => (found.startsWith('/*') || found.startsWith('//') ? found.replace(/[^\n]/g, ' ') : found))
}

export function importsOf(code: string): Import[] {
  const found: Import[] = []
  const from = /^\s*(?:import|export)\s+(type\s)?[^'";]*?\bfrom\s*['"]([^'"]+)['"]/gm
  for (const [, typeOnly, specifier] of code.matchAll(from))
    found.push({ specifier: specifier as string, typeOnly: typeOnly !== undefined })
  const alone = /^\s*import\s*['"]([^'"]+)['"]|\b(?:import|require)\(\s*['"]([^'"]+)['"]\s*\)/gm
  for (const [, plain, called] of code.matchAll(alone)) found.push({ specifier: (plain ?? called) as string, typeOnly: false })
  return found
}

/** The file that a relative import names, from the root. */
export function targetOf(source: { readonly path: string }, specifier: string): string {
  return pathOf(resolve(ROOT, dirname(source.path), specifier))
}

/** `path:line` of every match, for messages that lead to the place. */
export function placesOf({ path, code }: { readonly path: string; readonly code: string }, pattern: RegExp): string[] {
  return [...code.matchAll(new RegExp(pattern.source, `${pattern.flags.replace('g', '')}g`))].map(
    (match) => `${path}:${code.slice(0, match.index).split('\n').length}: ${match[0].trim()}`,
  )
}
