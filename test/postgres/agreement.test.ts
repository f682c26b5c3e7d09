// Postgres agrees with the memory store, whatever turns are taken.
import { LIMITS } from '@millrace/core'
import { openStore } from '@millrace/postgres'
import { beforeEach } from 'vitest'
import { MemoryStore } from '../../packages/core/src/testing/memoryStore.ts'
import { useSmallLimits } from '../../packages/core/src/testing/smallLimits.ts'
import { storeAgreement } from '../../packages/testkit/src/testing/storeAgreement.ts'
import { newSchema, storeOptions } from './test.ts'

// A slice that looks at few rows finds as many as its place lets it.
useSmallLimits({ walkRows: LIMITS.walkRows })

let next: () => ReturnType<typeof newSchema>

beforeEach((context) => {
  next = () => newSchema(context)
})

storeAgreement(
  'Postgres and memory',
  () => {
    const postgres = openStore(storeOptions(next()))
    return { stores: [new MemoryStore(postgres.node), postgres], close: () => postgres.close() }
  },
  5,
)
