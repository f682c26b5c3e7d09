/** A read-only connection for a query thread. It sees every commit that was acknowledged before the call. */
import type { Database } from './driver.ts'
import { connectReader } from './open/connect.ts'
import { MEMORY_FILE } from './options.ts'
import { prepareReads, type Reads } from './read/reads.ts'

export interface StoreReader extends Reads {
  close(): void
}

const READER_CACHE_KIB = 4096

/** Opens a reader. `openStore` must have opened the file before. `':memory:'` has one connection and so no readers. */
export function openReader(file: string, { cacheKib = READER_CACHE_KIB }: { readonly cacheKib?: number } = {}): StoreReader {
  if (file === MEMORY_FILE) throw new TypeError("a database in memory has no readers: its queries run on the store's own connection")
  const db: Database = connectReader(file, cacheKib)
  return { ...prepareReads(db), close: () => db.close() }
}
