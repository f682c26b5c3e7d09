// Databases that do not store every character: one job with another one would never end.
import { inspectSchema, openStore } from '@millrace/postgres'
import pg from 'pg'
import { expect } from 'vitest'
import { keptBridge } from './keptBridge.ts'
import { storeOptions, test } from './test.ts'

test.for(['LATIN1', 'EUC_JP', 'SQL_ASCII'])('a database in %s is refused when it is opened', async (encoding, { postgres }) => {
  const { url, schema } = postgres
  const server = new pg.Client({ connectionString: url })
  await server.connect()
  const database = `${schema}_database`
  await server.query(`CREATE DATABASE ${database} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`)
  const there = new URL(url)
  there.pathname = `/${database}`
  const refused = { code: 'UNSUPPORTED_RUNTIME', message: expect.stringContaining(`must be UTF8, got ${encoding}`) }
  const options = { ...storeOptions(postgres), url: there.href }
  for (const open of [() => openStore(options, undefined, keptBridge), () => inspectSchema(options)])
    expect(open).toThrow(expect.objectContaining(refused))
  await server.query(`DROP DATABASE ${database} WITH (FORCE)`)
  await server.end()
})
