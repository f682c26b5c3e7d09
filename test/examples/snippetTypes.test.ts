// Every TypeScript snippet of every page: it compiles against the packages as they are, or is a part of a program that does.
import { execFile } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { isolatedDeclarationSync } from 'rolldown/experimental'
import { expect, onTestFinished, test } from 'vitest'
import { walk } from '../rules/sources.ts'
import { BLOCKS } from '../snippets/blocks.ts'
import { snippetsOf } from './snippets.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Within a package that has all others among its dependencies. */
const FOLDER = join(ROOT, 'test/node_modules/.cache', `snippets-${process.pid}`)

/** Packages whose names a snippet may use without an import, as on a page that has imported them before. */
const PACKAGES = [
  ['@millrace/engine', 'packages/engine'],
  ['@millrace/testkit', 'packages/testkit'],
  ['@millrace/remote', 'packages/remote'],
  ['@millrace/http', 'packages/http'],
  ['@millrace/webhooks', 'packages/webhooks'],
  ['@millrace/outbox', 'packages/outbox'],
  ['@millrace/exec', 'packages/exec'],
  ['@millrace/import', 'packages/import'],
  ['@millrace/otel', 'packages/otel'],
  ['@millrace/nestjs', 'packages/nestjs'],
] as const

/** Without indentation: a page shows the inside of a block at its margin. */
const flush = (text: string): string => text.replace(/^ +/gm, '').trimEnd()

/** Programs that tests run, and from which pages take snippets. */
const PROGRAMS = [...walk(join(ROOT, 'apps/examples')), join(ROOT, 'test/consumers/programs/testkit.spec.mjs')]
  .filter((file) => /\.(?:ts|tsx|mjs)$/.test(file))
  .map((file) => flush(readFileSync(file, 'utf8')))

const isOfProgram = (code: string): boolean => PROGRAMS.some((program) => program.includes(flush(code)))

const pages = [...new Set(BLOCKS.flatMap(({ language, page }) => (language === 'ts' ? [page] : [])))]

interface Snippet {
  readonly file: string
  readonly page: string
  readonly where: string
  readonly code: string
}

/** Makes a snippet a module: three dots stand for statements, a value for an expression. */
function wholeOf(code: string): string {
  const full = code
    .replace(/\) \.\.\.(?=\s|$)/gm, ') {}')
    .replaceAll('{ ... }', '{}')
    .replace(/^.*\/\/ does not compile/gm, '// @ts-expect-error\n$&')
  return full.startsWith('{') ? `void (${full})` : full
}

const snippets: readonly Snippet[] = pages.flatMap((page) =>
  snippetsOf(page).flatMap((code, index) =>
    isOfProgram(code)
      ? []
      : [
          {
            file: `${page.replace(/[^\w]/g, '_')}_${index + 1}.ts`,
            page,
            where: `${page}, snippet ${index + 1}`,
            code: wholeOf(code),
          },
        ],
  ),
)

/** The package of each name: values are those that it has, and types those that its README lists. */
const EXPORTS = new Map<string, string>()
for (const [name, folder] of PACKAGES.toReversed()) {
  const readme = readFileSync(join(ROOT, folder, 'README.md'), 'utf8')
  const types = [...readme.matchAll(/`([A-Z]\w*)`/g)].map(([, each]) => each as string)
  for (const each of [...types, ...Object.keys(await import(name))]) EXPORTS.set(each, name)
}

const run = promisify(execFile)

interface Fault {
  readonly file: string
  readonly code: string
  readonly text: string
}

/**
 * Writes the declarations of all packages, and returns where each of their entries is: `tsc` itself checks the sources, and the snippets need
 * no more than the types. A file whose types are not written out is copied, so that `tsc` infers them.
 */
function declare(): Readonly<Record<string, readonly string[]>> {
  const entries: Record<string, readonly string[]> = {}
  for (const manifest of globSync('packages/*/package.json', { cwd: ROOT })) {
    const { name, exports = {} } = JSON.parse(readFileSync(join(ROOT, manifest), 'utf8')) as Manifest
    const folder = join(ROOT, dirname(manifest))
    // Beside the package's dependencies.
    const declarations = join(folder, 'node_modules/.cache', `snippets-${process.pid}`)
    onTestFinished(() => rmSync(declarations, { recursive: true, force: true }))
    const written = new Map<string, string>()
    for (const file of globSync('src/**/*.ts', { cwd: folder, exclude: ['**/*.test.ts', 'src/testing/**'] })) {
      const source = readFileSync(join(folder, file), 'utf8')
      const { code, errors } = isolatedDeclarationSync(file, source, {})
      const target = join(declarations, errors.length > 0 ? file : file.replace(/\.ts$/, '.d.ts'))
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, errors.length > 0 ? source : code)
      written.set(file, target)
    }
    for (const [entry, value] of Object.entries(exports)) {
      const target = written.get((typeof value === 'string' ? value : value.default).replace('./', ''))
      if (target !== undefined) entries[entry.replace('.', name)] = [target]
    }
  }
  return entries
}

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, string | { readonly default: string }>>
}

/** Compiles the snippets, each with names declared before it, and returns the errors. Only what has changed is compiled a second time. */
async function compile(missing: ReadonlyMap<string, ReadonlySet<string>>): Promise<readonly Fault[]> {
  for (const { file, page, code } of snippets) {
    const names = [...(missing.get(file) ?? [])].map((name) => declarationOf(name, page)).join(' ')
    writeFileSync(join(FOLDER, file), `${names} export {}\n${code}`)
  }
  const { stdout } = await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', FOLDER], {
    maxBuffer: 2 ** 26,
  }).catch((error: { readonly stdout: string }) => error)
  return [...stdout.matchAll(/^(?:.*\/)?([\w.]+)\((\d+),\d+\): error (TS\d+): (.*)$/gm)].map(([, file = '', line, code = '', text]) => ({
    file,
    code,
    text: `line ${Number(line) - 1}: ${text}`,
  }))
}

/** Declares what a page leaves to its reader: an engine, definitions of jobs, names of the packages, and values of any kind. */
function declarationOf(name: string, page: string): string {
  const whole = snippets.flatMap((snippet) => (snippet.page === page ? [snippet.code] : [])).join('\n')
  if (name === 'engine') return "declare const engine: import('@millrace/engine').Engine;"
  if (new RegExp(`\\b${name}\\.(?:handler|thread|childProcess|job)\\(|typeof ${name}\\b`).test(whole))
    return `declare const ${name}: import('@millrace/engine').Definition<any, any>;`
  const from = EXPORTS.get(name)
  if (from === undefined) return `declare const ${name}: any; type ${name} = any;`
  const isType = /^[A-Z]/.test(name) && new RegExp(`: ${name}\\b|\\b${name}<`).test(whole)
  return isType ? `import { type ${name} } from '${from}';` : `import { ${name} } from '${from}';`
}

/** Names that nothing declares, and what says so. */
const UNKNOWN: Readonly<Record<string, RegExp>> = {
  TS2304: /name '(\w+)'/,
  TS2552: /name '(\w+)'/,
  TS2593: /name '(\w+)'/,
  TS18004: /property '(\w+)'/,
}
/** A snippet may be the body of a function. */
const IGNORED: ReadonlySet<string> = new Set(['TS1108'])

test('they compile', { timeout: 120_000 }, async () => {
  expect(snippets.length).toBeGreaterThan(80)
  mkdirSync(FOLDER, { recursive: true })
  onTestFinished(() => rmSync(FOLDER, { recursive: true, force: true }))
  const options = {
    strict: false,
    exactOptionalPropertyTypes: false,
    experimentalDecorators: true,
    erasableSyntaxOnly: false,
    lib: ['es2024', 'dom'],
    declaration: false,
    incremental: true,
    tsBuildInfoFile: join(FOLDER, 'compiled.json'),
    paths: declare(),
  }
  writeFileSync(
    join(FOLDER, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.base.json'), compilerOptions: options, include: ['*.ts'] }),
  )
  const missing = new Map<string, Set<string>>()
  for (const { file, code, text } of await compile(missing)) {
    const name = UNKNOWN[code]?.exec(text)?.[1]
    if (name !== undefined) missing.set(file, (missing.get(file) ?? new Set()).add(name))
  }
  const errors = (await compile(missing)).filter(({ code }) => !IGNORED.has(code))
  const whereOf = (file: string) => snippets.find((snippet) => snippet.file === file)?.where
  expect(errors.flatMap(({ file, text }) => (whereOf(file) === undefined ? [] : [`${whereOf(file)}, ${text}`]))).toEqual([])
})
