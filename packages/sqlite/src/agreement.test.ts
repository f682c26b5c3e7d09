// The file agrees with the memory store, whatever turns are taken.
import { LIMITS } from '@millrace/core'
import { MemoryStore } from '../../core/src/testing/memoryStore.ts'
import { useSmallLimits } from '../../core/src/testing/smallLimits.ts'
import { storeAgreement } from '../../testkit/src/testing/storeAgreement.ts'
import { openStore } from './open-store.ts'
import { storeOptions } from './testing/files.ts'

// A slice that looks at few rows finds as many as its index lets it.
useSmallLimits({ walkRows: LIMITS.walkRows, nameUnusedMs: 20 })

storeAgreement('SQLite and memory', () => {
  const sqlite = openStore(storeOptions(':memory:'))
  return { stores: [new MemoryStore(sqlite.node), sqlite], close: () => sqlite.close() }
})
