// A schema that was restored from a dump: its rows name the owner of the original, and that owner is not its own.
import { openEngine } from '@millrace/engine'
import * as driver from '@millrace/postgres'
import pg from 'pg'
import { expect } from 'vitest'
import { schemaOwnership } from '../../packages/engine/src/postgres/schemaOwnership.ts'
import { type TestSchema, test } from './test.ts'

async function execute({ url }: TestSchema, ...texts: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(texts.join(';'))
  await client.end()
}

const ownershipOf = ({ url, schema }: TestSchema) =>
  schemaOwnership({
    driver,
    owners: driver.ownerRegistryOf({ url, schema }),
    url,
    schema,
    listen: undefined,
    transport: 'socket',
    exists: () => {},
  })

test('the row of the owner leads to it from its own schema only, and only while it has the lock', async ({ postgres }) => {
  const copy = { ...postgres, schema: `${postgres.schema}_copy` }
  await using engine = await openEngine({ postgres: postgres.url, schema: postgres.schema, durability: 'normal', logger: false })
  await expect.poll(() => ownershipOf(postgres).reach()).toMatchObject({ ownerUrl: expect.stringMatching(/^tls:/) })
  // The copy is opened, and holds what a dump has of the original while nobody has announced itself.
  const own = await openEngine({ postgres: copy.url, schema: copy.schema, durability: 'normal', logger: false })
  await expect.poll(() => ownershipOf(copy).reach()).toMatchObject({ ownerUrl: expect.stringMatching(/^tls:/) })
  await execute(copy, `DELETE FROM ${copy.schema}.owner`, `INSERT INTO ${copy.schema}.owner SELECT * FROM ${postgres.schema}.owner`)
  expect(await ownershipOf(copy).reach()).toBeUndefined()
  expect(await ownershipOf(copy).look()).toMatchObject({ mayBeFree: false, where: undefined, note: undefined })

  // Even a row that is made to fit has another key.
  await execute(copy, `UPDATE ${copy.schema}.owner SET schema_id = ${copy.schema}.schema_id()`)
  const [original, forged] = await Promise.all([ownershipOf(postgres).reach(), ownershipOf(copy).reach()])
  expect(forged?.ownerUrl).toBe(original?.ownerUrl)
  expect(forged?.where.tls?.secret).not.toEqual(original?.where.tls?.secret)

  // Nobody stands for a row that was left behind.
  await own.stop()
  await execute(
    copy,
    `INSERT INTO ${copy.schema}.owner SELECT * FROM ${postgres.schema}.owner`,
    `UPDATE ${copy.schema}.owner SET schema_id = ${copy.schema}.schema_id()`,
  )
  expect(await ownershipOf(copy).look()).toMatchObject({ mayBeFree: true, note: { pid: process.pid } })
  expect(await ownershipOf(copy).reach()).toBeUndefined()
  expect((await engine.stats()).totals.enqueued).toBe(0)
})
