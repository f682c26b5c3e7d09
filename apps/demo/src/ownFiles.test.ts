import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ownFilesTest } from './ownFiles.ts'

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url))

test('the queue and the page of the dashboard are own, and nothing beside them', () => {
  const isOwn = ownFilesTest('/data/my.db')
  expect([isOwn('/data', 'my.db'), isOwn('/data', 'my.db-wal'), isOwn('/data', 'my.dbs'), isOwn('/other', 'my.db')]).toEqual([
    true,
    true,
    false,
    false,
  ])
  const cache = join(MODULES, '.cache')
  expect([isOwn(cache, 'millrace'), isOwn(cache, 'other'), isOwn(MODULES, 'millrace')]).toEqual([true, false, false])
})

test('the dashboard builds its page there', () => {
  const source = readFileSync(new URL('../../dashboard/src/pageFolder.ts', import.meta.url), 'utf8')
  expect(source).toContain("'../../node_modules/.cache/millrace/dashboard'")
})
