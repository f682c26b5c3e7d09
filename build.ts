/**
 * Builds what is published of the package in this folder, or of those named: declarations by tsc, and code by Rolldown, one file for each
 * entry, and one for what entries share or load later. Node resolves and links every file for itself: of a few it opens an engine in a
 * third of the time. Other packages stay outside, so that each class is there once.
 *
 * Entries are what the manifest exports or runs, and the files of threads, `millrace-*.ts`, which lie beside whoever starts them: in the
 * sources, and here.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

interface Manifest {
  readonly version: string
  readonly exports?: Readonly<Record<string, string | { readonly default: string }>>
  readonly bin?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly publishConfig?: { readonly imports?: Readonly<Record<string, string>> }
}

/**
 * The files of a copied package, by their names in the copy: all that runs, and neither `binding.gyp`, for which npm starts a compiler,
 * nor the sources. pnpm leaves out the licence of a package that has another file LICENSE.
 */
const COPIED = { COPYING: 'LICENSE', lib: 'lib', prebuilds: 'prebuilds' }

async function build(folder: string): Promise<void> {
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  const tsc = fileURLToPath(import.meta.resolve('typescript/package.json')).replace('package.json', 'bin/tsc')
  execFileSync(process.execPath, [tsc, '-b'], { cwd: folder, stdio: 'inherit' })
  await bundle(folder)
  copyImports(folder)
  // The dashboard's page, which is no part of its code.
  const page = join(folder, 'build.ts')
  if (existsSync(page)) execFileSync(process.execPath, [page, join(folder, 'dist/page')], { cwd: folder, stdio: 'inherit' })
}

/** Copies each package that the published manifest imports from `dist`, in the version that is installed here: docs/decisions/0074. */
function copyImports(folder: string): void {
  const { publishConfig: { imports = {} } = {} }: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  for (const name of Object.keys(imports).map((key) => key.slice('#'.length))) {
    const [from, to] = [join(folder, 'node_modules', name), join(folder, 'dist', name)]
    for (const [copy, file] of Object.entries(COPIED)) cpSync(join(from, file), join(to, copy), { recursive: true, dereference: true })
    // Node reads that this is CommonJS, and scanners read which version it is.
    const { version, license, repository } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
    writeFileSync(join(to, 'package.json'), JSON.stringify({ name, version, license, repository, type: 'commonjs' }))
  }
}

/** The code alone. A file that is as it was is left alone, and no file is ever there in part: processes may be loading them. */
export async function bundle(folder: string): Promise<void> {
  const {
    version,
    exports = {},
    bin = {},
    devDependencies = {},
    peerDependencies = {},
  }: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const targets = [...Object.values(exports), ...Object.values(bin)].map((target) => (typeof target === 'string' ? target : target.default))
  const named = targets.filter((file) => file.endsWith('.ts'))
  const files = [...named, ...globSync('src/**/millrace-!(*.test).ts', { cwd: folder })].map((file) => resolve(folder, file))
  const bundler = await rolldown({
    input: Object.fromEntries(files.map((file) => [basename(file, '.ts'), file])),
    platform: 'node',
    // A bundle of a user's has no manifest beside it.
    transform: { target: 'es2024', define: { MILLRACE_VERSION: JSON.stringify(version) } },
    // The file includes the helpers of compiled `using`, and siblings that are never installed beside this package.
    external: (id) =>
      !/^(?:[./\\0]|@oxc-project\/)/.test(id) && !(id.startsWith('@millrace/') && id in devDependencies && !(id in peerDependencies)),
  })
  const dir = join(folder, 'dist')
  const { output } = await bundler.generate({ dir, format: 'esm', sourcemap: true, minify: false, chunkFileNames: '[name].js' })
  await bundler.close()
  mkdirSync(dir, { recursive: true })
  for (const made of output) replace(join(dir, made.fileName), made.type === 'chunk' ? made.code : made.source)
}

function replace(file: string, content: string | Uint8Array): void {
  if (existsSync(file) && readFileSync(file).equals(Buffer.from(content as Uint8Array))) return
  const written = `${file}.${process.pid}`
  // A command may be linked to, and run.
  writeFileSync(written, content, { mode: content.slice(0, 2).toString() === '#!' ? 0o755 : 0o644 })
  renameSync(written, file)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folders = process.argv.slice(2)
  for (const folder of folders.length > 0 ? globSync(folders) : ['.']) await build(resolve(folder))
}
