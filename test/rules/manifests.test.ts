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
  readonly repository?: unknown
  readonly keywords?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const folders = readdirSync(new URL('packages/', root))
const manifests = folders.map((folder) => [folder, JSON.parse(read(`packages/${folder}/package.json`)) as Manifest] as const)
/** Beside its root: what needs a test runner is not for everyone who installs the package, and what the packages have among themselves for nobody. */
const SUBPATHS: Readonly<Record<string, readonly string[]>> = {
  client: ['calendar', 'public'],
  core: ['answers', 'kernel'],
  engine: ['bundle', 'internal'],
  remote: ['internal'],
  testkit: ['conformance', 'internal'],
  worker: ['clock', 'process'],
}
const subpaths = (folder: string, target: (name: string) => unknown) =>
  Object.fromEntries((SUBPATHS[folder] ?? []).map((name) => [`./${name}`, target(name)]))
/** In this workspace: its sources, and to the processes of tests what is built of them (test/built.ts). */
const here = (name: string) => ({ 'millrace-dist': `./dist/${name}.js`, default: `./src/${name}.ts` })
const app = JSON.parse(read('apps/millrace/package.json')) as Manifest
/** It makes projects, and has what it needs in its own code. */
const creator = JSON.parse(read('apps/create-millrace/package.json')) as Manifest
const published = manifests.filter(([, manifest]) => manifest.private !== true)
/** A package like those of `packages`, which has a page besides. */
const dashboard = JSON.parse(read('apps/dashboard/package.json')) as Manifest

describe.each(manifests)('packages/%s', (folder, manifest) => {
  test('is an ESM package of the family', () => {
    expect(manifest).toMatchObject({ name: `@millrace/${folder}`, type: 'module', license: 'MIT', engines: { node: '>=22.14' } })
    expect(manifest.exports).toEqual({
      '.': here('index'),
      ...subpaths(folder, here),
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

describe('apps/dashboard, published as @millrace/dashboard', () => {
  test('is an ESM package of the family, which ships dist', () => {
    expect(dashboard).toMatchObject({ name: '@millrace/dashboard', type: 'module', license: 'MIT', engines: { node: '>=22.14' } })
    expect(dashboard.private).not.toBe(true)
    expect(dashboard.exports).toEqual({ '.': here('index'), './package.json': './package.json' })
    expect(dashboard.files).toEqual(expect.arrayContaining(['dist', 'README.md']))
    expect(dashboard.publishConfig?.exports).toEqual({
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './package.json': './package.json',
    })
  })

  test('needs nothing where it is installed: the page is built', () => {
    expect(dashboard).not.toHaveProperty('dependencies')
  })
})

describe('apps/millrace, published as millrace', () => {
  test('runs from source here, and compiled where it is installed', () => {
    expect(app).toMatchObject({
      ...{ name: 'millrace', type: 'module', license: 'MIT', engines: { node: '>=22.14' }, bin: { millrace: './src/main.ts' } },
      ...{ publishConfig: { access: 'public', bin: { millrace: './dist/main.js' } } },
    })
    expect(app.private).not.toBe(true)
    expect(app.exports).toEqual({ './package.json': './package.json' })
    expect(app.files).toEqual(expect.arrayContaining(['dist', 'README.md', 'dashboards']))
  })

  test('depends on nothing that is not published', () => {
    const names = new Set([...published.map(([, { name }]) => name), dashboard.name])
    const siblings = Object.keys(app.dependencies ?? {}).filter((name) => name.startsWith('@millrace/'))
    expect(siblings.filter((name) => !names.has(name) || app.dependencies?.[name] !== 'workspace:^')).toEqual([])
  })

  test('has its name to itself', () => {
    const others = [
      'package.json',
      'bench/package.json',
      'test/package.json',
      'apps/demo/package.json',
      'apps/docs/package.json',
      'apps/examples/package.json',
    ]
    for (const path of others)
      expect(JSON.parse(read(path)), path).toMatchObject({ name: expect.not.stringMatching(/^millrace$/), private: true })
  })
})

describe('apps/create-millrace, published as create-millrace', () => {
  test('runs from source here, and compiled where `npm create millrace` has fetched it', () => {
    expect(creator).toMatchObject({
      ...{ name: 'create-millrace', type: 'module', license: 'MIT', engines: { node: '>=22.14' } },
      ...{ bin: { 'create-millrace': './src/main.ts' } },
      ...{ publishConfig: { access: 'public', bin: { 'create-millrace': './dist/main.js' } } },
    })
    expect(creator.private).not.toBe(true)
    expect(creator.exports).toEqual({ './package.json': './package.json' })
    expect(creator.files).toEqual(expect.arrayContaining(['dist', 'README.md', 'templates']))
  })

  test('needs nothing else: it is fetched for one run', () => {
    expect(creator).not.toHaveProperty('dependencies')
  })
})

test('what runs from source alone needs a Node that strips types', () => {
  for (const folder of ['bench', 'test', 'apps/demo', 'apps/docs', 'apps/examples'])
    expect(JSON.parse(read(`${folder}/package.json`)), folder).toMatchObject({ engines: { node: '>=22.18' } })
})

test('all that is published shares one version, by the configuration of changesets too', () => {
  const all = [...published.map(([, manifest]) => manifest), dashboard, app, creator]
  expect(new Set(all.map(({ version }) => version)).size).toBe(1)
  const { fixed } = JSON.parse(read('.changeset/config.json')) as { fixed: readonly (readonly string[])[] }
  expect(fixed.map((names) => names.toSorted())).toEqual([all.map(({ name }) => name).toSorted()])
})

test('a changeset names what is published', () => {
  const names = new Set([...published.map(([, { name }]) => name), dashboard.name, app.name, creator.name])
  for (const file of readdirSync(new URL('.changeset/', root)).filter((name) => name.endsWith('.md') && name !== 'README.md')) {
    const [, head = ''] = /^---\n(.*?)^---$/ms.exec(read(`.changeset/${file}`)) ?? []
    const unknown = [...head.matchAll(/^['"]?([^'":]+)['"]?:/gm)].map(([, name]) => name as string).filter((name) => !names.has(name))
    expect(unknown, file).toEqual([])
  }
})

test('core depends on nothing', () => {
  const core = manifests.find(([folder]) => folder === 'core')?.[1]
  expect(core).toBeDefined()
  expect(core).not.toHaveProperty('dependencies')
})

test('the lockfile names no registry', () => {
  expect(read('pnpm-lock.yaml').match(/https?:\/\/\S+/g)).toBeNull()
})

test('what is published says where its sources are, where to ask, and by which words it is found', () => {
  const { repository } = JSON.parse(read('package.json')) as { repository: { url: string } }
  const page = repository.url.replace(/^git\+|\.git$/g, '')
  for (const [folder, manifest] of [
    ...published.map(([name, value]) => [`packages/${name}`, value] as const),
    ['apps/dashboard', dashboard] as const,
    ['apps/millrace', app] as const,
    ['apps/create-millrace', creator] as const,
  ])
    expect(manifest, folder).toMatchObject({
      description: expect.stringMatching(/^.{20,120}$/),
      keywords: expect.arrayContaining(['millrace', 'job queue']),
      repository: { ...repository, directory: folder },
      bugs: `${page}/issues`,
      homepage: `${page}/tree/main/${folder}#readme`,
    })
})

test('no package needs itself, tests included: every command of pnpm would warn of it', () => {
  const needs = new Map(
    [...manifests.map(([, manifest]) => manifest), dashboard, app, creator].map((manifest) => [manifest.name, siblingsOf(manifest)]),
  )
  const free = new Set<string>()
  for (let before = -1; before < free.size; ) {
    before = free.size
    for (const [name, siblings] of needs) if (siblings.every((sibling) => free.has(sibling))) free.add(name)
  }
  expect([...needs.keys()].filter((name) => !free.has(name))).toEqual([])
})

function siblingsOf({ dependencies, devDependencies }: Manifest): string[] {
  return Object.keys({ ...dependencies, ...devDependencies }).filter((name) => name.startsWith('@millrace/'))
}
