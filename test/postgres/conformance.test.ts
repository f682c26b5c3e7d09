// Postgres keeps the promises of every store.

import { openStore } from '@millrace/postgres'
import { beforeEach } from 'vitest'
import { storeConformance } from '../../packages/testkit/src/storeConformance.ts'
import { keptBridge } from './keptBridge.ts'
import { keptSchema } from './keptSchema.ts'
import { storeOptions, type TestSchema } from './test.ts'

let schema: TestSchema

beforeEach((context) => {
  schema = keptSchema(context)
})

storeConformance('Postgres', () => {
  const open = () => openStore(storeOptions(schema), undefined, keptBridge)
  return { store: open(), openAgain: open }
})
