// Steps of the schema, up and down: a ledger, a transaction each, one migrator at a time.
import { AlreadyOpenError, SchemaTooNewError, SchemaTooOldError } from '@millrace/core'
import { inspectSchema, migrateSchemaDown, openStore } from '@millrace/postgres'
import pg from 'pg'
import { expect } from 'vitest'
import { run } from '../../apps/millrace/src/cli/run.ts'
import { MIGRATIONS, OLDEST_SCHEMA } from '../../packages/postgres/src/migrations/list.ts'
import type { Migration } from '../../packages/postgres/src/migrations/migration.ts'
import { StoreTurns } from '../../packages/testkit/src/storeConformance/storeTurns.ts'
import { startHere } from '../app/here.ts'
import { keptSchema } from './keptSchema.ts'
import { storeOptions, type TestSchema, test } from './test.ts'

const FIRST = (MIGRATIONS.at(-1) as Migration).id
const words: Migration = {
  id: FIRST + 1,
  name: 'words',
  up: ['CREATE TABLE word (text text PRIMARY KEY)', "INSERT INTO word VALUES ('one')"],
  down: ['DROP TABLE word'],
  minReader: FIRST,
}
const lengths: Migration = {
  id: FIRST + 2,
  name: 'lengths',
  up: ['ALTER TABLE word ADD COLUMN size int', 'UPDATE word SET size = length(text)'],
  down: ['ALTER TABLE word DROP COLUMN size'],
  minReader: FIRST + 2,
}
const broken: Migration = { ...lengths, up: ['ALTER TABLE word ADD COLUMN size int', 'SELECT 1 / 0'] }
const ALL = [...MIGRATIONS, words, lengths]

async function sql({ url, schema }: TestSchema, text: string): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`SET search_path TO "${schema}"`)
    return (await client.query<unknown[]>({ text, values: [], rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}

const ledger = async (schema: TestSchema) => (await sql(schema, 'SELECT id::int FROM migration ORDER BY id')).flat()

test('T7, T8: a schema is brought up step by step, keeps its jobs, and is brought down again', async ({ postgres }) => {
  const store = openStore(storeOptions(postgres))
  const turns = new StoreTurns(store)
  const bystander = turns.row(turns.enqueue('a', { data: '"by"' }))
  store.close()
  expect(await ledger(postgres)).toEqual(MIGRATIONS.map(({ id }) => id))

  openStore(storeOptions(postgres), ALL).close()
  expect(await ledger(postgres)).toEqual(ALL.map(({ id }) => id))
  expect(await sql(postgres, 'SELECT text, size FROM word')).toEqual([['one', 3]])
  expect(() => openStore(storeOptions(postgres))).toThrow(SchemaTooNewError)

  migrateSchemaDown(storeOptions(postgres), FIRST + 1, ALL)
  expect(await sql(postgres, 'SELECT * FROM word')).toEqual([['one']])
  // The first step alone may be read by older versions.
  const again = openStore(storeOptions(postgres))
  expect(new StoreTurns(again).rows()).toEqual([bystander])
  again.close()
  migrateSchemaDown(storeOptions(postgres), FIRST, ALL)
  expect(await ledger(postgres)).toEqual(MIGRATIONS.map(({ id }) => id))
  expect(await sql(postgres, 'SELECT schema_version::int, min_reader::int FROM meta')).toEqual([
    [FIRST, Math.max(...MIGRATIONS.map(({ minReader }) => minReader))],
  ])
})

test('a new schema has every step', async ({ postgres }) => {
  openStore({ ...storeOptions(postgres), autoMigrate: false }, ALL).close()
  expect(await ledger(postgres)).toEqual(ALL.map(({ id }) => id))
})

test('a step that fails leaves nothing, and those before it stay', async ({ postgres }) => {
  openStore(storeOptions(postgres)).close()
  expect(() => openStore(storeOptions(postgres), [...MIGRATIONS, words, broken])).toThrow('division by zero')
  expect(await ledger(postgres)).toEqual([...MIGRATIONS, words].map(({ id }) => id))
  expect(await sql(postgres, 'SELECT * FROM word')).toEqual([['one']])
  openStore(storeOptions(postgres), ALL).close()
  expect(await ledger(postgres)).toEqual(ALL.map(({ id }) => id))
})

test('without autoMigrate an older schema is refused, and left as it is', async ({ skip }) => {
  const postgres = keptSchema({ skip })
  expect(() => openStore({ ...storeOptions(postgres), autoMigrate: false }, ALL)).toThrow(SchemaTooOldError)
  expect(await ledger(postgres)).toEqual(MIGRATIONS.map(({ id }) => id))
  expect(inspectSchema(postgres)).toEqual({ schemaVersion: FIRST, knownVersion: FIRST })
})

test('nobody migrates a schema that another process has, and one that is not there has version 0', async ({ skip }) => {
  const postgres = keptSchema({ skip })
  const store = openStore(storeOptions(postgres))
  expect(() => openStore(storeOptions(postgres), ALL)).toThrow(AlreadyOpenError)
  expect(() => migrateSchemaDown(storeOptions(postgres), FIRST, ALL)).toThrow(AlreadyOpenError)
  store.close()
  expect(inspectSchema({ ...postgres, schema: `${postgres.schema}_none` })).toEqual({ schemaVersion: 0, knownVersion: FIRST })
})

test('each step after the first can be undone', () => {
  expect(MIGRATIONS.map(({ id }) => id)).toEqual(MIGRATIONS.map((_, index) => OLDEST_SCHEMA + index))
  expect(MIGRATIONS.slice(1).filter(({ down }) => down === undefined)).toEqual([])
})

test('a schema from before 0.1.0 is refused by whatever opens it, and left as it is', async ({ postgres }) => {
  openStore(storeOptions(postgres)).close()
  await sql(postgres, `UPDATE meta SET min_reader = 7, schema_version = ${OLDEST_SCHEMA - 1}`)
  for (const refused of [
    () => openStore(storeOptions(postgres)),
    () => inspectSchema(postgres),
    () => migrateSchemaDown(storeOptions(postgres), OLDEST_SCHEMA),
  ]) {
    expect(refused).toThrow(SchemaTooOldError)
    expect(refused).toThrow(`has version ${OLDEST_SCHEMA - 1} of its layout, from before 0.1.0`)
  }
  expect(await ledger(postgres)).toEqual([OLDEST_SCHEMA])
})

test('millrace migrate --postgres says what there is to do', async ({ skip }) => {
  const { url, schema } = keptSchema({ skip })
  const program = startHere((host) => run(['migrate', '--check', '--schema', schema, '--json'], host), { MILLRACE_POSTGRES: url })
  expect(await program.ended).toMatchObject({ code: 0 })
  expect(JSON.parse(program.lines[0] as string)).toMatchObject({
    schema: expect.stringContaining(schema),
    version: FIRST,
    known: FIRST,
    pending: false,
  })
})
