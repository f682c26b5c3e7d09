// What every manifest and the lockfile promise: how packages look in development, when packed, and where they come from (nowhere named).
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly type: string
  readonly license: string
  readonly engines: { readonly node: string }
  readonly exports?: unknown
  readonly files?: readonly string[]
  readonly publishConfig?: { readonly exports?: unknown }
  readonly dependencies?: Readonly<Record<string, string>>
}

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const folders = readdirSync(new URL('packages/', root))
const manifests = folders.map((folder) => [folder, JSON.parse(read(`packages/${folder}/package.json`)) as Manifest] as const)
/** Beside its root: what needs a test runner is not for everyone who installs the package. */
const SUBPATHS: Readonly<Record<string, readonly string[]>> = { testkit: ['conformance'] }
const subpaths = (folder: string, target: (name: string) => unknown) =>
  Object.fromEntries((SUBPATHS[folder] ?? []).map((name) => [`./${name}`, target(name)]))
const published = manifests.filter(([, manifest]) => manifest.private !== true)

describe.each(manifests)('packages/%s', (folder, manifest) => {
  test('is an ESM package of the family', () => {
    expect(manifest).toMatchObject({ name: `@millrace/${folder}`, type: 'module', license: 'MIT', engines: { node: '>=22.14' } })
    expect(manifest.exports).toEqual({
      '.': './src/index.ts',
      ...subpaths(folder, (name) => `./src/${name}.ts`),
      './package.json': './package.json',
    })
  })
})

describe.each(published)('packages/%s, published', (folder, manifest) => {
  test('ships dist', () => {
    expect(manifest.files).toEqual(expect.arrayContaining(['dist', 'README.md']))
    expect(manifest.publishConfig?.exports).toEqual({
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      ...subpaths(folder, (name) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` })),
      './package.json': './package.json',
    })
  })

  test('takes its siblings from the workspace', () => {
    for (const [name, range] of Object.entries(manifest.dependencies ?? {})) {
      if (name.startsWith('@millrace/')) expect(`${name} ${range}`).toBe(`${name} workspace:^`)
    }
  })
})

test('published packages share one version', () => {
  expect(new Set(published.map(([, manifest]) => manifest.version)).size).toBe(1)
})

test('core depends on nothing', () => {
  const core = manifests.find(([folder]) => folder === 'core')?.[1]
  expect(core).toBeDefined()
  expect(core).not.toHaveProperty('dependencies')
})

test('the lockfile names no registry', () => {
  expect(read('pnpm-lock.yaml').match(/https?:\/\/\S+/g)).toBeNull()
})
