// Who may import whom: the arrows between packages, no deep imports, no cycles. The drawing is in ARCHITECTURE.md.
import { describe, expect, test } from 'vitest'
import { elsewhere, examples, type Import, SHIPPED, SOURCES, type Source, targetOf } from './sources.ts'

/** A new arrow is a decision: docs/decisions/. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  sql: ['core'],
  // Neither store may import the other: what they share is in `sql`.
  sqlite: ['core', 'sql'],
  // `worker` finds the file of a thread.
  postgres: ['core', 'sql', 'worker'],
  worker: ['core'],
  wire: ['core'],
  client: ['core', 'worker'],
  outbox: ['core', 'worker', 'client'],
  engine: ['core', 'sqlite', 'postgres', 'worker', 'client', 'remote'],
  remote: ['core', 'wire', 'worker', 'client'],
  otel: ['core', 'worker', 'client'],
  http: ['core', 'worker', 'client'],
  webhooks: ['core', 'worker', 'client'],
  exec: ['core', 'worker', 'client'],
  import: ['core', 'worker', 'client'],
  // They open engines.
  nestjs: ['core', 'worker', 'client', 'engine'],
  fastify: ['core', 'client', 'engine', 'http'],
  testkit: ['core', 'sqlite', 'worker', 'client', 'engine'],
}

/** A package by its root, or by one of the paths that manifests.test.ts allows. The arrows hold for all of them. */
const SIBLING =
  /^@millrace\/([^/]+?)(?:(?<=\/client)\/(?:calendar|public)|(?<=\/core)\/(?:answers|kernel)|(?<=\/worker)\/(?:clock|process)|(?<=\/(?:engine|remote|testkit))\/internal)?$/
const siblingsOf = ({ imports }: Source) => imports.flatMap(({ specifier }) => SIBLING.exec(specifier)?.[1] ?? [])

test('every package has its arrows', () => {
  const packages = new Set(SOURCES.filter((source) => source.kind === 'packages').map((source) => source.package))
  expect([...packages].sort()).toEqual(Object.keys(ARROWS).sort())
})

test('the arrows have no cycle', () => {
  const above = (name: string, seen: readonly string[]): void => {
    expect(seen, `${[...seen, name].join(' → ')}`).not.toContain(name)
    for (const next of ARROWS[name] ?? []) above(next, [...seen, name])
  }
  for (const name of Object.keys(ARROWS)) above(name, [])
})

/** Files that are made for tests are not shipped: they use the testkit by paths, as tests do. */
const isForTests = (path: string, target: string) => path.includes('/src/testing/') && target.startsWith('packages/testkit/src/')

/** The tables of answers reach the contract by its entry (ADR 84). If they shared its files, the bundler would split them for everybody. */
const isOwnEntry = ({ path }: Source, sibling: string) => sibling === 'core' && path.startsWith('packages/core/src/answers/')

describe.each(Object.entries(ARROWS))('%s', (name, allowed) => {
  const sources = SOURCES.filter((source) => source.kind === 'packages' && source.package === name && !/\.test\.tsx?$/.test(source.path))

  test(`imports of its siblings only: ${allowed.join(', ') || 'none'}`, () => {
    const wrong = sources.flatMap((source) =>
      siblingsOf(source)
        .filter((sibling) => !allowed.includes(sibling) && !isOwnEntry(source, sibling))
        .map((sibling) => `${source.path} imports ${sibling}`),
    )
    expect(wrong).toEqual([])
  })

  test('is not reached by relative paths from outside, nor reaches out by them', () => {
    const wrong = sources.flatMap((source) =>
      source.imports
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => ({ specifier, target: targetOf(source, specifier) }))
        .filter(({ target }) => !target.startsWith(`packages/${name}/`) && !isForTests(source.path, target))
        .map(({ specifier }) => `${source.path} imports ${specifier}`),
    )
    expect(wrong).toEqual([])
  })
})

test('nothing that is shipped knows the testkit, or what is made for tests', () => {
  const wrong = [...SHIPPED, ...SOURCES.filter((source) => source.kind === 'apps' && !source.testing)].flatMap((source) =>
    source.imports
      .filter(
        ({ specifier }) =>
          /^(@millrace\/testkit|vitest|fast-check)/.test(specifier) ||
          (specifier.startsWith('.') && /\/testing\/|\.test\.ts$/.test(targetOf(source, specifier))),
      )
      .map(({ specifier }) => `${source.path} imports ${specifier}`),
  )
  expect(wrong).toEqual([])
})

test('core imports nothing: no node:*, no package, its own files alone', () => {
  const wrong = SHIPPED.filter((source) => source.package === 'core').flatMap((source) =>
    source.imports
      .filter(({ specifier }) => !specifier.startsWith('./') && !specifier.startsWith('../'))
      .filter(({ specifier }) => !(specifier === '@millrace/core' && isOwnEntry(source, 'core')))
      .map(({ specifier }) => `${source.path} imports ${specifier}`),
  )
  expect(wrong).toEqual([])
})

/** Everybody else knows the contract alone: commands, replies, options, errors. */
const KERNEL_USERS = ['engine', 'postgres', 'sql', 'sqlite', 'testkit']

test(`the kernel is for ${KERNEL_USERS.join(', ')}`, () => {
  const wrong = SOURCES.filter((source) => source.kind === 'apps' || !KERNEL_USERS.includes(source.package)).flatMap(({ path, imports }) =>
    imports.filter(({ specifier }) => specifier === '@millrace/core/kernel').map(({ specifier }) => `${path} imports ${specifier}`),
  )
  expect(wrong).toEqual([])
})

test("core's contract knows nothing of its kernel", () => {
  const contract = SHIPPED.filter(({ path }) => /^packages\/core\/src\/(?!kernel[./])/.test(path))
  expect(contract.length).toBeGreaterThan(60)
  const wrong = contract.flatMap((source) =>
    source.imports
      .filter(({ specifier }) => /^packages\/core\/src\/kernel[./]/.test(targetOf(source, specifier)))
      .map(({ specifier }) => `${source.path} imports ${specifier}`),
  )
  expect(wrong).toEqual([])
})

test.each(['sql', 'wire'])('%s does no I/O: core and its own files alone', (name) => {
  const wrong = SHIPPED.filter((source) => source.package === name).flatMap((source) =>
    source.imports
      .filter(({ specifier }) => !/^(?:\.\.?\/|@millrace\/core(?:\/kernel)?$)/.test(specifier))
      .map(({ specifier }) => `${source.path} imports ${specifier}`),
  )
  expect(wrong).toEqual([])
})

test("the testkit's root is for any test runner: it reaches none, and nothing that is made for tests of this repository", () => {
  const known = new Map(SOURCES.map((source) => [source.path, source]))
  const reached = new Set(['packages/testkit/src/index.ts'])
  const outside = new Set<string>()
  for (const path of reached) {
    for (const { specifier } of known.get(path)?.imports ?? []) {
      if (specifier.startsWith('.')) reached.add(targetOf({ path }, specifier))
      else outside.add(specifier)
    }
  }
  expect(reached.size).toBeGreaterThan(5)
  expect(
    [...outside].filter((specifier) => !/^(?:node:(?:assert|util)|@millrace\/\w+(?:\/(?:calendar|internal|kernel))?)$/.test(specifier)),
  ).toEqual([])
})

test('no deep imports: a package is its root and the paths that it offers; the conformance suite, which needs vitest, is apart', () => {
  const wrong = [...SOURCES, ...elsewhere()].flatMap(({ path, imports }) =>
    imports
      .filter(
        ({ specifier }) => specifier.startsWith('@millrace/') && !SIBLING.test(specifier) && specifier !== '@millrace/testkit/conformance',
      )
      .map(({ specifier }) => `${path} imports ${specifier}`),
  )
  expect(wrong).toEqual([])
})

test('what is internal is for packages, tests and measurements: no app and no example needs it', () => {
  const apps = [...SOURCES.filter(({ kind }) => kind === 'apps'), ...examples()]
  expect(apps.length).toBeGreaterThan(100)
  const wrong = apps.flatMap(({ path, imports }) =>
    imports.filter(({ specifier }) => specifier.endsWith('/internal')).map(({ specifier }) => `${path} imports ${specifier}`),
  )
  expect(wrong).toEqual([])
})

const ONLY_IN: readonly (readonly [what: string, pattern: RegExp, packages: readonly string[]])[] = [
  ['better-sqlite3', /^#?better-sqlite3$/, ['sqlite']],
  ['pg', /^pg$/, ['import', 'postgres']],
  ['clients of other stores', /^(?:ioredis|mongodb)$/, ['import']],
  // Its lock alone, of a file that no other copy of SQLite opens.
  ['node:sqlite', /^node:sqlite$/, ['remote']],
  ['threads', /^(node:)?worker_threads$/, ['engine', 'postgres', 'worker']],
  ['piscina', /^piscina$/, ['engine', 'worker']],
  // The worker asks whether the file of its threads is there.
  ['files', /^(node:)?fs(\/promises)?$/, ['sqlite', 'engine', 'remote', 'exec', 'worker']],
  // Postgres has a tunnel between two sockets.
  ['sockets', /^(node:)?(net|tls|dgram|http2?|https)$/, ['remote', 'webhooks', 'postgres']],
]

test.each(ONLY_IN)('%s: only where it is allowed', (_what, pattern, packages) => {
  const wrong = SHIPPED.filter((source) => !packages.includes(source.package)).flatMap((source) =>
    source.imports.filter(({ specifier }) => pattern.test(specifier)).map(({ specifier }) => `${source.path} imports ${specifier}`),
  )
  expect(wrong).toEqual([])
})

/**
 * The records of a job, its lane, its backlog and its worker's session point at one another: a job is in a lane, and a lane knows its
 * first job. Their types cannot do without each other.
 */
const RECORDS = ['consumerGroup', 'flowState', 'job', 'keyBacklog', 'lane', 'readyLanes', 'session', 'window'].map(
  (name) => `packages/core/src/kernel/records/${name}.ts`,
)

/** The first circle that an import closes, as a trail of paths. */
function circlesOf(files: ReadonlyMap<string, Source>, counts: (one: Import, from: string, to: string) => boolean): string[] {
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      circles.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
      return
    }
    const source = files.get(path)
    if (source === undefined || done.has(path)) return
    for (const one of source.imports) {
      const target = targetOf(source, one.specifier)
      if (one.specifier.startsWith('.') && counts(one, path, target)) visit(target, [...trail, path])
    }
    done.add(path)
  }
  for (const path of files.keys()) visit(path, [])
  return circles
}

test('no circle of files, tests included; there types alone may meet in one', () => {
  const files = new Map(SOURCES.map((source) => [source.path, source]))
  expect(circlesOf(files, ({ typeOnly }) => !typeOnly)).toEqual([])
})

test('no circle of types in what is shipped, but that of the records in memory', () => {
  const shipped = SOURCES.filter(({ path, testing }) => !testing && !path.startsWith('apps/dashboard/src/page/'))
  const files = new Map(shipped.map((source) => [source.path, source]))
  const among = (from: string, to: string) => RECORDS.includes(from) && RECORDS.includes(to)
  expect(circlesOf(files, (_one, from, to) => !among(from, to))).toEqual([])
})

test('every relative import names a file that is there', () => {
  const known = new Set(SOURCES.map((source) => source.path))
  const wrong = SOURCES.flatMap((source) =>
    source.imports
      .filter(({ specifier }) => specifier.startsWith('.') && /\.tsx?$/.test(specifier) && !known.has(targetOf(source, specifier)))
      .map(({ specifier }) => `${source.path} imports ${specifier}`),
  )
  expect(wrong).toEqual([])
})
