/** The sources that the score is about, and the tests that are tried on them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Parsed, parse } from './plant.ts'
import { parsePython } from './python.ts'

export interface Area {
  readonly name: string
  readonly folders: readonly string[]
  /** The folders whose unit tests are tried on it. */
  readonly units: readonly string[]
  /** Folders of system tests that meet it. */
  readonly system: readonly string[]
  /** True if its sources run elsewhere than in Node: a mutant is written into them, one at a time (listed.ts). */
  readonly elsewhere?: true
}

export const AREAS: readonly Area[] = [
  {
    name: 'kernel',
    folders: ['packages/core/src/kernel'],
    units: ['packages/core', 'packages/testkit', 'packages/engine', 'packages/client'],
    system: ['test/ports', 'test/engine', 'test/limits'],
  },
  {
    name: 'write',
    folders: ['packages/sqlite/src/write', 'packages/sql/src/write'],
    units: ['packages/sqlite', 'packages/sql', 'packages/testkit', 'packages/engine'],
    system: ['test/ports', 'test/engine', 'test/failures'],
  },
  {
    name: 'read',
    folders: ['packages/sqlite/src/read', 'packages/sql/src/read'],
    units: ['packages/sqlite', 'packages/sql', 'packages/testkit', 'packages/engine'],
    system: ['test/ports', 'test/engine', 'test/http'],
  },
  {
    name: 'postgres',
    folders: ['packages/postgres/src'],
    units: ['packages/postgres', 'packages/testkit'],
    system: ['test/postgres'],
  },
  {
    name: 'worker',
    folders: ['packages/worker/src'],
    units: ['packages/worker', 'packages/testkit', 'packages/engine'],
    system: ['test/ports', 'test/engine', 'test/remote'],
  },
  {
    name: 'wire',
    folders: ['packages/wire/src'],
    units: ['packages/wire', 'packages/remote'],
    system: ['test/wire', 'test/remote', 'test/security'],
  },
  {
    name: 'remote',
    folders: ['packages/remote/src', 'packages/client/src/forwarding'],
    units: ['packages/remote', 'packages/client', 'packages/testkit'],
    system: ['test/remote', 'test/share', 'test/security'],
  },
  {
    name: 'feeds',
    folders: ['packages/webhooks/src/feed', 'packages/outbox/src'],
    units: ['packages/webhooks', 'packages/outbox', 'packages/testkit'],
    system: ['test/webhooks', 'test/outbox'],
  },
  {
    name: 'http',
    folders: ['packages/http/src'],
    units: ['packages/http', 'apps/millrace/src/serve'],
    system: ['test/http', 'test/security', 'test/browser', 'test/dashboard', 'test/app'],
  },
  {
    name: 'command line',
    folders: ['apps/millrace/src/cli', 'apps/millrace/src/config', 'apps/millrace/src/serve'],
    units: ['apps/millrace'],
    system: ['test/app', 'test/demo', 'test/start', 'test/exec'],
  },
  {
    name: 'page',
    folders: ['apps/dashboard/src/page'],
    units: ['apps/dashboard'],
    system: ['test/dashboard', 'test/site'],
    elsewhere: true,
  },
  {
    name: 'python',
    folders: ['clients/python/millrace'],
    units: [],
    system: ['test/wire'],
    elsewhere: true,
  },
]

export function areaOf(file: string): Area {
  const area = AREAS.find(({ folders }) => folders.some((folder) => file.startsWith(`${folder}/`)))
  if (area === undefined) throw new RangeError(`${file} is in no area`)
  return area
}

/** Every source file of the areas whose path begins with `only`, parsed. */
export function parseAreas(
  root: string,
  only: readonly string[],
  areas: readonly Area[] = AREAS.filter((area) => !area.elsewhere),
): Parsed[] {
  return areas
    .flatMap(({ folders }) => folders)
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(?:tsx?|py)$/.test(entry.name) && !/(?:\.test|^index|^__init__)\./.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('/testing/') && (only.length === 0 || only.some((path) => file.startsWith(path))))
    .toSorted()
    .map((file) => (file.endsWith('.py') ? parsePython : parse)(file, readFileSync(join(root, file), 'utf8')))
}
