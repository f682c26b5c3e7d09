/** Builds the page into a folder, with each file compressed beside it: `node build.ts dist/page`. */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'vite'

async function buildPage(folder: string): Promise<void> {
  const configFile = fileURLToPath(new URL('vite.config.ts', import.meta.url))
  await build({ configFile, logLevel: 'warn', build: { outDir: folder } })
  for (const file of globSync('assets/*', { cwd: folder })) compress(join(folder, file))
}

function compress(file: string): void {
  const content = readFileSync(file)
  writeFileSync(`${file}.br`, brotliCompressSync(content))
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }))
}

const [folder = 'dist/page'] = process.argv.slice(2)
await buildPage(resolve(folder))
