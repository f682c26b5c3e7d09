// apps/examples/nestjs in a folder of its own, with the packed packages and each Nest that their manifest accepts, from a registry: npm
// compares the versions that packages need of each other. An application of Nest is a process, so this starts one.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tryNestExample } from '../frameworks/nestExample.ts'
import { temporaryFolder } from '../temporary.ts'
import { install, pack } from './pack.ts'
import { type Registry, startRegistry } from './registry.ts'
import { run } from './run.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The oldest that the manifest accepts, and the newest of each major version. Exact: a run does not depend on what was released this morning. */
const NESTS = [
  { nest: '11.0.0', terminus: '11.0.0' },
  { nest: '11.2.10', terminus: '11.1.1' },
  { nest: '12.5.1', terminus: '12.1.0' },
]

let packed: string
let served: Registry

beforeAll(async () => {
  packed = mkdtempSync(join(tmpdir(), 'millrace-nest-'))
  await pack(packed)
  served = await startRegistry(packed)
}, 600_000)

afterAll(async () => {
  await served?.close()
  if (packed !== undefined) rmSync(packed, { recursive: true, force: true, maxRetries: 3 })
})

test('every major version that the package accepts is tried', () => {
  const { peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'packages/nestjs/package.json'), 'utf8'))
  const majors = [...new Set(NESTS.map(({ nest }) => nest.split('.')[0]))]
  const range = majors.map((major) => `^${major}.0.0`).join(' || ')
  expect(peerDependencies).toEqual({ '@nestjs/common': range, '@nestjs/core': range })
})

test.for(NESTS)('Nest $nest: the example is installed, compiled and runs', { timeout: 600_000 }, async ({ nest, terminus }) => {
  const folder = temporaryFolder()
  cpSync(join(ROOT, 'apps/examples/nestjs'), join(folder, 'src'), { recursive: true })
  cpSync(join(ROOT, 'tsconfig.base.json'), join(folder, 'tsconfig.base.json'))
  const tsconfig = readFileSync(join(folder, 'src/tsconfig.json'), 'utf8').replace('../../../tsconfig', '../tsconfig')
  writeFileSync(join(folder, 'src/tsconfig.json'), tsconfig)
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  const nests = ['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@${nest}`)
  const others = [`@nestjs/terminus@${terminus}`, 'reflect-metadata@0.2.2', 'rxjs@7.8.2', '@types/node@24.19.2', 'typescript@7.0.2']
  await install(folder, ['@millrace/nestjs', '@millrace/engine', ...nests, ...others], {
    npm_config_registry: served.url,
    npm_config_cache: join(packed, 'cache'),
  })
  const compiled = await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'src'], folder)
  expect(compiled).toEqual({ code: 0, stdout: '', stderr: '' })
  await tryNestExample(pathToFileURL(join(folder, 'src/dist/main.js')))
})
