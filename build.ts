/**
 * Builds what is published of the package in this folder, or of those named: declarations by tsc, and code by Rolldown, one file for each
 * entry, and one for what entries share or load later. Node resolves and links every file for itself: of a few it opens an engine in a
 * third of the time. Other packages stay outside, so that each class is there once.
 *
 * Entries are what the manifest exports or runs, and the files of threads, `millrace-*.ts`, which lie beside whoever starts them: in the
 * sources, and here.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

interface Manifest {
  readonly exports?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
}

const TSC = fileURLToPath(import.meta.resolve('typescript/package.json')).replace('package.json', 'bin/tsc')

async function build(folder: string): Promise<void> {
  const dist = join(folder, 'dist')
  rmSync(dist, { recursive: true, force: true })
  execFileSync(process.execPath, [TSC, '-b'], { cwd: folder, stdio: 'inherit' })
  const { exports = {}, bin = {} }: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const named = [...Object.values(exports), ...Object.values(bin)].filter((file) => file.endsWith('.ts'))
  const files = [...named, ...globSync('src/**/millrace-!(*.test).ts', { cwd: folder })].map((file) => resolve(folder, file))
  const bundle = await rolldown({
    input: Object.fromEntries(files.map((file) => [basename(file, '.ts'), file])),
    platform: 'node',
    transform: { target: 'es2024' },
    // What `using` compiles to is a part of the file.
    external: (id) => !/^(?:[./\\0]|@oxc-project\/)/.test(id),
  })
  await bundle.write({ dir: dist, format: 'esm', sourcemap: true, minify: false, chunkFileNames: '[name].js' })
  await bundle.close()
}

const named = process.argv.slice(2)
for (const folder of named.length > 0 ? globSync(named) : ['.']) await build(resolve(folder))
