/** A read-only connection for a query thread. It sees every commit that was acknowledged before the call. */

import { type BridgeTo, newBridge } from './bridge/bridge.ts'
import { Connection } from './connection.ts'
import { refusedBy } from './open/check.ts'
import type { StoreOptions } from './options.ts'
import { prepareReads, type Reads } from './read/reads.ts'
import { planSettings, setUpOf } from './settings.ts'

export interface StoreReader extends Reads {
  close(): void
}

/** Opens a reader of a schema that `openStore` has opened before. */
export function openReader({ url, schema }: Pick<StoreOptions, 'url' | 'schema'>, bridgeTo: BridgeTo = newBridge): StoreReader {
  // Questions are rare: each has a plan for the sizes that tables have by then.
  const settings = { ...planSettings(schema, 'reader'), plan_cache_mode: 'force_custom_plan', default_transaction_read_only: 'on' }
  const bridge = bridgeTo({ url, setUp: setUpOf(settings) })
  const error = bridge.connect()
  if (error !== undefined) {
    bridge.close()
    throw refusedBy(error)
  }
  return { ...prepareReads(new Connection(bridge)), close: () => bridge.close() }
}
