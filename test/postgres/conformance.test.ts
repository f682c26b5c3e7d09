// Postgres keeps the promises of every store.
import { beforeEach } from 'vitest'
import { openStore } from '../../packages/postgres/src/index.ts'
import { storeConformance } from '../../packages/testkit/src/storeConformance.ts'
import { newSchema, storeOptions, type TestSchema } from './test.ts'

let schema: TestSchema

beforeEach((context) => {
  schema = newSchema(context)
})

storeConformance('Postgres', () => {
  const options = storeOptions(schema)
  return { store: openStore(options), openAgain: () => openStore(options) }
})
