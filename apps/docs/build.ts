/** Builds the site into a folder: `node build.ts dist`. */
import { resolve } from 'node:path'
import { build } from 'vitepress'

const [folder = 'dist'] = process.argv.slice(2)
await build(import.meta.dirname, { outDir: resolve(import.meta.dirname, folder) })
