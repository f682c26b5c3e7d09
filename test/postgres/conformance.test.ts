// Postgres keeps the promises of every store.

import { openStore } from '@millrace/postgres'
import { beforeEach } from 'vitest'
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
