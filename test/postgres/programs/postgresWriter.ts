/** A writer thread over a schema of Postgres. */
import { runWriter, systemClock, systemRandom } from '@millrace/engine/internal'
import { openStore, type StoreOptions } from '@millrace/postgres'

runWriter({
  schema: 1,
  open: (options: Pick<StoreOptions, 'url' | 'schema' | 'durability'>) =>
    openStore({ ...options, waitMs: 2_000, random: systemRandom, now: systemClock.read().wall }),
})
