/** A writer thread over the memory store: a second kind of store, beside the SQLite file. */
import { runWriter } from '@millrace/engine/internal'
import { MemoryStore } from '../../../packages/core/src/testing/memoryStore.ts'

runWriter({
  schema: 1,
  open: ({ node }: { readonly node: number }) => Object.assign(new MemoryStore(node), { epoch: 1 }),
})
