// Commands at a file that Millrace refuses leave nothing beside it; and one that looks at a file names nobody as its owner who is not.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { openEngine } from '@millrace/engine'
import { expect, test } from 'vitest'
import { SCHEMA_VERSION } from '../../packages/sqlite/src/index.ts'
import { Place } from './millrace.ts'

function database(file: string, sql: string): void {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}

/** A database of a Millrace that is newer: what tells it is in its header and in one row. */
const NEWER = `PRAGMA application_id = 0x4d6c7263; CREATE TABLE meta (schema_version, min_reader);
  INSERT INTO meta VALUES (${SCHEMA_VERSION + 1}, ${SCHEMA_VERSION + 1})`

const REFUSED = [
  ['a text', 'NOT_A_DATABASE', (file: string) => writeFileSync(file, 'not a database '.repeat(100))],
  ['a database of another program', 'NOT_A_DATABASE', (file: string) => database(file, 'CREATE TABLE users (id)')],
  ['one in WAL mode', 'NOT_A_DATABASE', (file: string) => database(file, 'PRAGMA journal_mode = WAL; CREATE TABLE users (id)')],
  ['one of a newer version', 'SCHEMA_TOO_NEW', (file: string) => database(file, NEWER)],
  ['a folder', 'NOT_WRITABLE', (file: string) => mkdirSync(file)],
  ['an empty file', 'NO_FILE', (file: string) => writeFileSync(file, '')],
] as const

test.each(REFUSED)('%s: no command leaves anything beside it', async (_what, code, make) => {
  const place = new Place()
  make(place.file)
  // An engine would wait for 10 s for an owner of that version, which it could attach to.
  const isNewer = code === 'SCHEMA_TOO_NEW'
  const looked = await place.run(isNewer ? 'doctor' : 'status')
  expect(looked.stderr).toMatch(new RegExp(`^millrace: [^\n]+ \\(${code}\\)\n$`))
  // Their ways to the file differ: by an engine, by a look at it, and beside it. An empty file may become a database.
  const byEngine = [['jobs', 'list'], ...(code === 'NO_FILE' ? [] : [['enqueue', 'mail']])]
  const beside = [
    ['doctor'],
    ['migrate', '--check'],
    ['token', 'list'],
    ['audit'],
    ...(code === 'NO_FILE' ? [] : [['token', 'create', 'ci']]),
  ]
  for (const args of isNewer ? beside : [...byEngine, ...beside]) expect((await place.run(...args)).code).not.toBe(0)
  expect(readdirSync(place.folder)).toEqual(['jobs.db'])
  if (code === 'NO_FILE') expect(readFileSync(place.file)).toHaveLength(0)
})

test.each([['status'], ['stats'], ['top']])('%s at a file that nobody has open: it has no owner', async (command) => {
  const place = new Place()
  await place.ok('enqueue', 'mail')
  const owner = async () => {
    const answer = await place.okJson(command)
    return ((answer['stats'] ?? answer) as { readonly owner: unknown }).owner
  }
  expect(await owner()).toBeNull()
  const engine = await openEngine({ file: place.file, share: true })
  expect(await owner()).toMatchObject({ pid: process.pid })
  await engine.stop()
})

test('status says that no process has the file open', async () => {
  const place = new Place()
  await place.ok('enqueue', 'mail')
  expect(await place.ok('status')).toMatch(/^owner +none$[\s\S]*^warning: no process has the file open: no job starts until one does/m)
})
