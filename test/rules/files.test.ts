/**
 * no-fs-open-of-db-files: closing a descriptor of a database file within the process drops SQLite's locks. So whatever opens a
 * file by itself is named here, with the files of its own that it opens; all else may only ask about paths.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pathOf, ROOT, walk, withoutComments } from './sources.ts'

const OPENERS = [
  'packages/engine/src/file/note.ts',
  'packages/exec/src/logs/log.ts',
  'packages/exec/src/logs/record.ts',
  'packages/exec/src/process/proc.ts',
  'packages/remote/src/journal/lock.ts',
  'packages/remote/src/journal/log.ts',
  'packages/remote/src/journal/refusals.ts',
  // Creates files, and never opens one that is there.
  'packages/sqlite/src/access.ts',
  // A copy that no connection has open any more, and a folder, to sync them.
  'packages/sqlite/src/durable.ts',
  // The log, on which SQLite takes no locks.
  'packages/sqlite/src/identity.ts',
  // Only while no connection of this process has the file open.
  'packages/sqlite/src/open/log.ts',
  'packages/sqlite/src/owner/note.ts',
  'packages/worker/src/process.ts',
  // The manifest of its package, in the sources alone.
  'packages/worker/src/version.ts',
]
const OPENING = /\b(?:readFile|writeFile|appendFile|copyFile|cp|open|createReadStream|createWriteStream|truncate|ftruncate)(?:Sync)?\b/
const IMPORT = /import \{([^}]*)\} from '(?:node:)?fs(?:\/promises)?'/g

const SOURCES = walk(join(ROOT, 'packages'))
  .filter((file) => /\/src\//.test(file) && file.endsWith('.ts') && !/\.test\.ts$|\/testing\/|\/testkit\//.test(pathOf(file)))
  .map((file) => ({ path: pathOf(file), code: withoutComments(readFileSync(file, 'utf8')) }))

test('only those that are known to open files import what opens them', () => {
  const openers = SOURCES.filter(({ code }) => [...code.matchAll(IMPORT)].some((match) => OPENING.test(match[1] ?? ''))).map(
    ({ path }) => path,
  )
  expect(openers.toSorted()).toEqual(OPENERS)
})

test('node:fs is imported by names, so that they can be seen', () => {
  const whole = SOURCES.filter(({ code }) => /import (?:\* as )?\w+ from '(?:node:)?fs(?:\/promises)?'/.test(code)).map(({ path }) => path)
  expect(whole).toEqual([])
})
