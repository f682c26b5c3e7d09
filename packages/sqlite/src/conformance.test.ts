// SQLite keeps the promises of every store: in a file and in memory.
import { join } from 'node:path'
import { storeConformance } from '../../testkit/src/storeConformance.ts'
import { openStore } from './open-store.ts'
import { storeOptions, temporaryFolder } from './testing/files.ts'

storeConformance('SQLite in a file', () => {
  const options = storeOptions(join(temporaryFolder(), 'jobs.db'))
  return { store: openStore(options), openAgain: () => openStore(options) }
})

storeConformance('SQLite in memory', () => ({ store: openStore(storeOptions(':memory:')) }))
