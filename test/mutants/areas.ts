/** The sources that the score is about, and the tests that are tried on them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Parsed, parse } from './plant.ts'

export interface Area {
  readonly name: string
  readonly folders: readonly string[]
  /** The packages whose unit tests are tried on it. */
  readonly packages: readonly string[]
  /** Folders of system tests that meet it. */
  readonly system: readonly string[]
}

export const AREAS: readonly Area[] = [
  {
    name: 'kernel',
    folders: ['packages/core/src/kernel'],
    packages: ['core', 'testkit', 'engine', 'client'],
    system: ['test/ports', 'test/engine', 'test/limits'],
  },
  {
    name: 'write',
    folders: ['packages/sqlite/src/write'],
    packages: ['sqlite', 'testkit', 'engine'],
    system: ['test/ports', 'test/engine', 'test/failures'],
  },
  {
    name: 'read',
    folders: ['packages/sqlite/src/read'],
    packages: ['sqlite', 'testkit', 'engine'],
    system: ['test/ports', 'test/engine', 'test/http'],
  },
  {
    name: 'worker',
    folders: ['packages/worker/src'],
    packages: ['worker', 'testkit', 'engine'],
    system: ['test/ports', 'test/engine', 'test/remote'],
  },
  {
    name: 'journal',
    folders: ['packages/remote/src/journal', 'packages/client/src/forwarding'],
    packages: ['remote', 'client', 'testkit'],
    system: ['test/remote'],
  },
  {
    name: 'feeds',
    folders: ['packages/webhooks/src/feed', 'packages/outbox/src'],
    packages: ['webhooks', 'outbox', 'testkit'],
    system: ['test/webhooks', 'test/outbox'],
  },
]

export function areaOf(file: string): Area {
  const area = AREAS.find(({ folders }) => folders.some((folder) => file.startsWith(`${folder}/`)))
  if (area === undefined) throw new RangeError(`${file} is in no area`)
  return area
}

/** Every source file of the areas whose path begins with `only`, parsed. */
export function parseAreas(root: string, only: readonly string[]): Parsed[] {
  return AREAS.flatMap(({ folders }) => folders)
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.ts$/.test(entry.name) && !/(?:\.test|^index)\.ts$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('/testing/') && (only.length === 0 || only.some((path) => file.startsWith(path))))
    .toSorted()
    .map((file) => parse(file, readFileSync(join(root, file), 'utf8')))
}
